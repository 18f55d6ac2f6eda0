#include "made_up.hpp"

#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/base/philox.hpp>
#include <sextant/spec/spec.hpp>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>

namespace sextant {
namespace {

// One to three edits: a byte replaced, removed or doubled, a line dropped, doubled or shifted.
std::string damage(std::string text, Stream const& stream, int number) {
  static std::string const bytes = " \t\n:,-[]{}#&*!|>'\"%@`0129aez.\\\x01\xff";
  std::uint64_t draw = 0;
  auto const below = [&](std::size_t n) {
    return static_cast<std::size_t>(
        stream.below(static_cast<std::int64_t>(n), draw++, static_cast<std::uint64_t>(number)));
  };
  for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
    std::size_t const at = below(text.size());
    std::size_t const line = text.rfind('\n', at) == std::string::npos ? 0 : text.rfind('\n', at) + 1;
    std::size_t const end = std::min(text.find('\n', at), text.size() - 1) + 1;
    switch (below(6)) {
      case 0:
        text[at] = bytes[below(bytes.size())];
        break;
      case 1:
        text.erase(at, 1);
        break;
      case 2:
        text.insert(at, 1, bytes[below(bytes.size())]);
        break;
      case 3:
        text.erase(line, end - line);
        break;
      case 4:
        text.insert(line, text.substr(line, end - line));
        break;
      default:
        text.insert(line, below(2) ? "  " : "- ");
        break;
    }
  }
  return text;
}

TEST_CASE("spec: a damaged spec is read or refused with a place, and nothing else happens", "[spec][R48]") {
  std::string const whole = read_file(fs::path(std::getenv("SEXTANT_SOURCE")) / "experiments/quickstart/spec.yaml");
  Stream const stream(1, "damage");
  int refused = 0, read = 0;
  for (int number = 0; number < 1500; ++number) {
    std::string const text = damage(whole, stream, number);
    try {
      auto const spec = spec::read_spec(text, "f", {}, test::made_up_plugins());
      CHECK(spec::read_spec(spec.resolved, "g", {}, test::made_up_plugins()).arms.size() == spec.arms.size());
      ++read;
    } catch (Error const& error) {
      ++refused;
      std::string const message = error.what();
      if (!message.starts_with("f:")) FAIL_CHECK("damage " << number << ": " << message);
    } catch (std::exception const& error) {
      FAIL_CHECK("damage " << number << ": " << error.what());
    }
  }
  CHECK(refused > 500);
  CHECK(read > 100);
}
}  // namespace
}  // namespace sextant
