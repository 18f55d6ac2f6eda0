#include <sextant/base/error.hpp>
#include <sextant/encoding/encoding.hpp>
#include <sextant/encoding/task.hpp>

#include <cmath>
#include <numeric>

namespace sextant::encoding {
namespace {
[[noreturn]] void absent(Encoding const& encoding, char const* stage) {
  fail(encoding.description().name, " has no stage ", stage);
}
}  // namespace

Encoding::~Encoding() = default;
Scaling::~Scaling() = default;
Task::~Task() = default;

void Encoding::gate(int, Head, double const*, std::size_t, double const*, double*) const { absent(*this, "gate"); }
void Encoding::gate_backward(int, Head, double const*, std::size_t, double const*, double*, double*) const {
  absent(*this, "gate");
}
Rotary Encoding::rotary(Shape const&) const { absent(*this, "rotate"); }
void Encoding::inv_freq(Shape const&, double const*, double*) const { absent(*this, "rotate"); }
void Encoding::inv_freq_gradient(Shape const&, double const*, double const*, double*) const { absent(*this, "rotate"); }
void Encoding::embed_row(Shape const&, double, double*) const { absent(*this, "embed"); }
double Encoding::bias_at(Shape const&, double const*, Head, double, double, double const*, double const*) const {
  absent(*this, "bias");
}
std::vector<Encoding::Region> Encoding::regions(Shape const&, int) const { absent(*this, "parts"); }

std::vector<int> Draw::distinct(int count, int n) {
  expect(count <= n, "draw: ", count, " distinct numbers of ", n, " asked for");
  std::vector<int> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  for (int i = 0; i < count; ++i)
    std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(i + below(n - i))]);
  all.resize(static_cast<std::size_t>(count));
  return all;
}

void Task::set_lengths(Numbers const& lengths) {
  bool const two = lengths.count == 2 && lengths[0] == std::floor(lengths[0]) && lengths[1] == std::floor(lengths[1]) &&
                   lengths[0] <= lengths[1] && lengths[1] < 1 << 20;
  expect(two, "lengths are ", std::vector<double>(lengths.value, lengths.value + lengths.count),
         ", expected two whole numbers, the shortest and the longest, as in [8, 32]");
  shortest_ = static_cast<int>(lengths[0]);
  longest_ = static_cast<int>(lengths[1]);
}

}  // namespace sextant::encoding
