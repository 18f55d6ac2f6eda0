// path, grape_ap and xpos inside attention: streaming, documents, and the fused backward over many chunks of keys.
#include "encoding/rig.hpp"
#include "support/close_to.hpp"

#include <sextant/base/error.hpp>
#include <sextant/check/layer.hpp>

#include <catch2/catch_all.hpp>

using namespace sextant;
using check::Tensor;
using test::block;
using test::CloseTo;
using test::Rig;
using test::Setting;

namespace path_terms_test {
namespace {
std::vector<encoding::PositionChoice> choices() {
  encoding::Options const strong{{"scale_base", 3.0}};
  return {block("path", {{"rank", std::int64_t{3}}}),
          block("path", {{"forget", true}, {"gate_scaled", true}, {"rank", std::int64_t{0}}}),
          block("grape_ap"),
          block("grape_ap", {{"p_dim", std::int64_t{4}}, {"norm_rows", false}}),
          block("xpos"),
          block("xpos", strong),
          test::sum({{"rope", {}, {}}, {"path", {}, {}}, {"grape_ap", {}, {}}, {"alibi", {}, {}}})};
}
Setting with(encoding::PositionChoice choice, int length) {
  Setting s{std::move(choice)};
  s.length = length;
  s.kv_heads = 2;
  return s;
}
}  // namespace

TEST_CASE("path terms: chunks fed through a cache give what the whole row gives, across chunks of 64 keys",
          "[encoding][streaming][path][grape_ap][xpos]") {
  for (int number = 0; auto const& choice : choices()) {
    DYNAMIC_SECTION(++number << ' ' << choice.encodings.back().use) {
      Rig rig(with(choice, 150));
      auto const whole = rig.attend();
      for (int size : {1, 7, 64, 100, 150}) {
        INFO("chunks of " << size);
        CHECK_THAT(rig.attend_in_chunks(size), CloseTo(whole, 1e-12));
      }
    }
  }
}

TEST_CASE("path terms: packed documents give what they give alone, beside left padding",
          "[encoding][documents][path][grape_ap][xpos]") {
  int const first = 70, length = 90;  // tokens before the document: five of padding, then another document
  for (int number = 0; auto const& choice : choices()) {
    DYNAMIC_SECTION(++number << ' ' << choice.encodings.back().use) {
      Setting s = with(choice, length), packed = with(choice, first + length);
      s.batch = packed.batch = 1;
      packed.positions.resize(1), packed.documents.resize(1);
      for (int i = 0; i < first + length; ++i) {
        packed.positions[0].push_back(i < first ? 500 + i : i - first);
        packed.documents[0].push_back(i < 5 ? -1 : i < first ? 3 : 4);
      }
      Rig alone(s), inside(packed);
      for (int h = 0; h < s.heads; ++h)
        for (int i = 0; i < length; ++i) {
          for (int c = 0; c < s.head_dim; ++c) alone.q(0, h, i, c) = inside.q(0, h, first + i, c);
          for (int c = 0; c < s.head_dim && h < s.kv_heads; ++c) alone.k(0, h, i, c) = inside.k(0, h, first + i, c);
          for (int c = 0; c < s.value_dim && h < s.kv_heads; ++c) alone.v(0, h, i, c) = inside.v(0, h, first + i, c);
        }
      for (int i = 0; i < length; ++i)
        for (int c = 0; c < s.model_dim; ++c) alone.x(i, c) = inside.x(first + i, c);
      for (int i = 0; i < 5; ++i) {  // padding may hold anything
        for (int c = 0; c < s.model_dim; ++c) inside.x(i, c) = std::nan("");
        for (int h = 0; h < s.kv_heads; ++h)
          for (int c = 0; c < s.head_dim; ++c) inside.k(0, h, i, c) = std::nan("");
      }
      auto const wanted = alone.attend();
      for (auto const& found : {inside.attend(), inside.attend_in_chunks(first + length)}) {
        std::vector<double> tail;
        for (int h = 0; h < s.heads; ++h)
          for (int n = first * s.value_dim; n < (first + length) * s.value_dim; ++n)
            tail.push_back(found[h * (first + length) * s.value_dim + n]);
        CHECK_THAT(tail, CloseTo(wanted, 1e-12));
      }
    }
  }
}

namespace {
/// Fused attention over a row, as training runs it.
struct Fused {
  int const length = 170, heads = 4, kv_heads = 2, dim = 6, model_dim = 10;
  Tensor q = random("q", {1, 4, 170, 6}), k = random("k", {1, 2, 170, 6}), v = random("v", {1, 2, 170, 6});
  Tensor x = random("x", {1, 170, 10}), weight = random("weight", {1, 4, 170, 6});
  std::vector<std::vector<double>> parameters;
  check::Layer<double> layer;

  explicit Fused(encoding::PositionChoice const& choice)
      : layer(std::make_shared<encoding::Position const>(
                  choice, encoding::Registry::global(),
                  encoding::Shape{.heads = heads, .kv_heads = kv_heads, .head_dim = dim, .model_dim = model_dim}),
              1, length, places()) {
    for (auto const& slot : layer.slots())
      parameters.push_back(random("p" + slot.name, {slot.parameter->info.size()}).values);
  }
  static Tensor random(std::string const& name, std::vector<std::size_t> shape) {
    std::size_t n = 1;
    for (std::size_t extent : shape) n *= extent;
    Tensor out{std::move(shape), std::vector<double>(n)};
    Stream const stream(4, name);
    for (std::size_t i = 0; i < n; ++i) out.values[i] = stream.normal(i);
    return out;
  }
  std::vector<double> places() const {
    std::vector<double> out(length);
    for (int i = 0; i < length; ++i) out[i] = 11 + i;
    return out;
  }
  double loss() {
    for (std::size_t n = 0; n < parameters.size(); ++n) layer.set(n, parameters[n]);
    layer.encode(q, k, x);
    auto const out = layer.attend(v, 0, {});
    double sum = 0;
    for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * weight.values[i];
    return sum;
  }
};
double along(std::vector<double> const& gradient, std::vector<double> const& direction) {
  REQUIRE(gradient.size() == direction.size());
  double sum = 0;
  for (std::size_t i = 0; i < gradient.size(); ++i) sum += gradient[i] * direction[i];
  return sum;
}
}  // namespace

TEST_CASE("path terms: the fused backward agrees with differences along random directions, over many chunks",
          "[encoding][gradient][path][grape_ap][xpos]") {
  for (int number = 0; auto const& choice : choices()) {
    DYNAMIC_SECTION(++number << ' ' << choice.encodings.back().use) {
      Fused fused(choice);
      fused.loss();
      auto const slopes = fused.layer.backward(fused.weight);
      std::vector<std::vector<double>> gradients{slopes.q, slopes.k, slopes.x};
      std::vector<std::vector<double>*> moved{&fused.q.values, &fused.k.values, &fused.x.values};
      for (std::size_t n = 0; n < fused.parameters.size(); ++n) {
        gradients.push_back(fused.layer.gradient(n));
        moved.push_back(&fused.parameters[n]);
      }
      for (std::size_t n = 0; n < moved.size(); ++n) {
        auto const kept = *moved[n];
        auto const direction = Fused::random("direction" + std::to_string(n), {kept.size()}).values;
        auto const at = [&](double step) {
          for (std::size_t i = 0; i < kept.size(); ++i) (*moved[n])[i] = kept[i] + step * direction[i];
          return fused.loss();
        };
        double const step = 1e-5, difference = (at(step) - at(-step)) / (2 * step);
        *moved[n] = kept;
        INFO("quantity " << n);
        CHECK(along(gradients[n], direction) == Catch::Approx(difference).epsilon(2e-6).margin(2e-6));
      }
    }
  }
}

TEST_CASE("path terms: what cannot be combined is refused with both names or the widths", "[encoding][path][xpos]") {
  auto const refusal = [](encoding::PositionChoice choice) -> std::string {
    try {
      Rig rig(with(std::move(choice), 9));
      rig.attend_in_chunks(9);
    } catch (Error const& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK_THAT(refusal(test::sum({{"path", {}, {}}, {"xpos", {}, {}}})),
             Catch::Matchers::ContainsSubstring("path multiplies query and key in its own way, and xpos does too"));
  CHECK_THAT(refusal(test::sum({{"rerope", {}, {}}, {"path", {}, {}}})),
             Catch::Matchers::ContainsSubstring("and rerope chooses an angle for every pair"));
  encoding::Choice const split{
      "direct_sum", {{"shares", std::vector<double>{1, 1}}}, {{"path", {}, {}}, {"rope", {}, {}}}};
  CHECK_THAT(refusal(test::sum({split})), Catch::Matchers::ContainsSubstring("give it heads instead"));
}
}  // namespace path_terms_test
