// Runs a hidden test case of this binary under several thread counts, each in a process of its own: Kokkos fixes its
// threads when it starts, so nothing a running test sets would change them.
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/base/kokkos.hpp>

#include <array>
#include <catch2/catch_all.hpp>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace sextant::test {

/// A running digest of the bits of numbers.
class Digest {
 public:
  template <class X>
  void add(X const& x) {
    for (std::size_t i = 0; i < x.size(); ++i) add_number(static_cast<double>(x.data()[i]));
  }
  void add_number(double number) {
    std::uint64_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    value_ = (value_ ^ bits) * 0x100000001B3ull;
    value_ ^= value_ >> 29;
  }
  std::uint64_t value() const { return value_; }
  /// The line that digests_on_threads() looks for.
  void print() const {
    std::printf("digest %016llx threads %d\n", static_cast<unsigned long long>(value_), concurrency());
  }

 private:
  std::uint64_t value_ = 0xCBF29CE484222325ull;
};

/// What the hidden test case `tag` ("[.][tag]", ends in Digest::print()) prints on each number of threads.
inline std::vector<std::string> digests_on_threads(std::string const& tag, std::vector<int> const& counts) {
  std::vector<std::string> digests;
  for (int const threads : counts) {
    auto const command = text("OMP_NUM_THREADS=", threads, " '",
                              std::filesystem::read_symlink("/proc/self/exe").string(), "' '", tag, "'");
    std::unique_ptr<FILE, int (*)(FILE*)> const pipe(popen(command.c_str(), "r"), &pclose);
    REQUIRE(pipe);
    std::array<char, 256> line;
    while (std::fgets(line.data(), line.size(), pipe.get())) {
      unsigned long long value;
      int used;
      if (std::sscanf(line.data(), "digest %llx threads %d", &value, &used) != 2) continue;
      if (std::string(Exec::name()) == "OpenMP") CHECK(used == threads);
      digests.push_back(text(value));
    }
  }
  REQUIRE(digests.size() == counts.size());
  return digests;
}

}  // namespace sextant::test
