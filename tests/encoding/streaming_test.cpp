// Feeding tokens in chunks through a cache gives what feeding them at once gives.
#include "encoding/rig.hpp"
#include "support/close_to.hpp"

#include <catch2/catch_all.hpp>

using namespace sextant;
using test::block;
using test::CloseTo;
using test::Rig;
using test::Setting;

namespace {
std::vector<encoding::PositionChoice> everything() {
  return {block("nope"),
          block("rope"),
          block("rope", {{"layout", std::string("interleaved")}, {"rotary_dim", std::int64_t{4}}}),
          block("alibi"),
          block("t5"),
          block("fox"),
          block("kerple"),
          block("mlp_bias", {{"width", std::int64_t{5}}}),
          block("fire", {{"threshold", 30.0}}),
          block("grape_joint"),
          block("grape_a_phase"),
          block("grape_a_phase", {{"exclusive", true}}),
          block("grape_m_ctx", {{"start_rate", 0.5}}),
          test::sum({{"rope", {}, {}}, {"logn", {{"trained_length", 16.0}}, {}}}),
          test::sum({{"rope", {}, {}}, {"sliding_window", {{"window", 5.0}}, {}}}),
          block("grape_m", {{"per_head", true}}),
          block("grape_a"),
          block("grape_a", {{"gate", std::string("qk")}}),
          block("segmented_theta", {{"axis", std::string("positions")},
                                    {"seg_start", std::vector<double>{0, 10, 30}},
                                    {"seg_rate", std::vector<double>{1, 0.5, 0.125}}}),
          test::sum({{"rope", {}, {}}, {"alibi", {}, {}}, {"fox", {}, {}}}),
          test::sum({{"direct_sum", {{"shares", std::vector<double>{3, 1}}}, {{"rope", {}, {}}, {"alibi", {}, {}}}}}),
          test::scaled({"rope", {}, {}}, {"yarn", {{"factor", 4.0}, {"original_length", 32.0}}, {}}),
          test::scaled({"rope", {}, {}}, {"longrope",
                                          {{"factor", 4.0},
                                           {"original_length", 100.0},
                                           {"short_factor", std::vector<double>{1, 2, 3, 4}},
                                           {"long_factor", std::vector<double>{4}},
                                           {"kept_tokens", 3.0}},
                                          {}})};
}
}  // namespace

TEST_CASE("streaming: chunks of 1, 7 and 64 tokens give what the whole row gives", "[encoding][streaming]") {
  int number = 0;
  for (auto const& choice : everything()) {
    DYNAMIC_SECTION(++number << ' ' << choice.encodings.front().use) {
      Setting s{choice};
      s.length = 70;
      s.kv_heads = choice.encodings.front().use == "grape_m" ? 4 : 2;
      Rig rig(s);
      auto const whole = rig.attend();
      for (int size : {1, 7, 64, 70}) {
        INFO("chunks of " << size);
        CHECK_THAT(rig.attend_in_chunks(size), CloseTo(whole, 1e-12));
      }
    }
  }
}

TEST_CASE("streaming: restarted positions, packed documents and left padding stream too", "[encoding][streaming]") {
  int number = 0;
  for (auto const& choice : everything()) {
    DYNAMIC_SECTION(++number << ' ' << choice.encodings.front().use) {
      Setting s{choice};
      s.length = 12;
      s.positions = {{0, 1, 2, 3, 4, 0, 1, 2, 3, 0, 1, 2}, {1, 1, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8}};
      s.documents = {{0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2}, {-1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
      Rig rig(s);
      auto const whole = rig.attend();
      for (int size : {1, 5}) CHECK_THAT(rig.attend_in_chunks(size), CloseTo(whole, 1e-12));
    }
  }
}

TEST_CASE("streaming: a packed document gives what it gives alone", "[encoding][streaming]") {
  int number = 0;
  for (auto const& choice : everything()) {
    DYNAMIC_SECTION(++number << ' ' << choice.encodings.front().use) {
      Setting s{choice};
      s.batch = 1;
      s.length = 11;
      Setting packed = s;
      packed.length = 16;  // five tokens of another document come first
      packed.positions = {{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
      packed.documents = {{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
      Rig alone(s), inside(packed);
      auto const move = [](View4<double> const& from, View4<double> const& to) {
        for (std::size_t h = 0; h < to.extent(1); ++h)
          for (std::size_t i = 0; i < to.extent(2); ++i)
            for (std::size_t c = 0; c < to.extent(3); ++c) to(0, h, i, c) = from(0, h, 5 + i, c);
      };
      move(inside.q, alone.q);
      move(inside.k, alone.k);
      move(inside.v, alone.v);
      for (int i = 0; i < 11; ++i)
        for (int c = 0; c < s.model_dim; ++c) alone.x(i, c) = inside.x(5 + i, c);
      auto const found = inside.attend();
      std::vector<double> tail;
      for (int h = 0; h < 4; ++h)
        for (int i = 5; i < 16; ++i)
          for (int c = 0; c < 3; ++c) tail.push_back(found[(h * 16 + i) * 3 + c]);
      CHECK_THAT(tail, CloseTo(alone.attend(), 1e-12));
    }
  }
}

TEST_CASE("streaming: ALiBi's bias of the fifth token is -2, -1.5, -1, -0.5, 0 in head 0 of 8, cached or not",
          "[encoding][streaming][R08]") {
  Setting s{block("alibi")};
  s.batch = 1;
  s.heads = s.kv_heads = 8;
  s.length = 5;
  Rig rig(s);
  auto const whole = rig.logits_at(0);
  CHECK(std::vector<double>(whole.begin() + 20, whole.begin() + 25) == std::vector<double>{-2, -1.5, -1, -0.5, 0});
  CHECK_THAT(rig.attend_in_chunks(1), CloseTo(rig.attend(), 1e-14));
}
