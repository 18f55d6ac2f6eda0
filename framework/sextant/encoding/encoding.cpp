#include <sextant/base/error.hpp>
#include <sextant/encoding/encoding.hpp>

namespace sextant::encoding {
namespace {
[[noreturn]] void absent(Encoding const& encoding, char const* stage) {
  fail(encoding.description().name, " has no stage ", stage);
}
}  // namespace

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

}  // namespace sextant::encoding
