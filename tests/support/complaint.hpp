// The message of the Error that a call is expected to throw.
#pragma once
#include <sextant/base/error.hpp>

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace sextant::test {

template <class Call>
std::string complaint(Call const& call) {
  try {
    call();
  } catch (Error const& error) {
    return error.what();
  }
  FAIL("expected an Error");
  return "";
}

}  // namespace sextant::test
