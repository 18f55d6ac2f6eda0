// Files of tests/data by their path there: data_file("tokens/tiny.json").
#pragma once
#include <cstdlib>
#include <string>

namespace sextant::test {

inline std::string data_file(std::string const& name) {
  return std::string(std::getenv("SEXTANT_TEST_DATA")) + "/" + name;
}

}  // namespace sextant::test
