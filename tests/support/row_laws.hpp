// What every row term must hold to, whatever it computes.
#pragma once
#include "support/close_to.hpp"
#include "support/row_rig.hpp"

namespace sextant::test {

/// Analytic gradients of query, key, value and every tensor against central differences.
inline void check_gradients(RowSetting const& setting, double bound = 1e-7) {
  RowRig<double> rig(setting);
  auto const expected = rig.numeric();
  auto const found = rig.analytic();
  CHECK_THAT(found.q.value, CloseTo(expected.q.value, bound));
  CHECK_THAT(found.k.value, CloseTo(expected.k.value, bound));
  CHECK_THAT(found.v.value, CloseTo(expected.v.value, bound));
  for (std::size_t n = 0; n < rig.names.size(); ++n) {
    INFO(rig.names[n]);
    CHECK_THAT(found.tensors[n], CloseTo(expected.tensors[n], bound));
  }
}

/// Two documents and padding in each row; positions restart.
inline RowSetting packed(RowSetting setting) {
  setting.batch = 2, setting.length = 10;
  setting.documents = {{0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, {-1, -1, 0, 0, 0, 0, 0, 1, 1, -1}};
  setting.positions = {{0, 1, 2, 3, 0, 1, 2, 3, 4, 5}, {0, 0, 0, 1, 2, 3, 4, 0, 1, 0}};
  return setting;
}

inline void check_gradients_everywhere(RowSetting setting, double bound = 1e-7) {
  SECTION("causal") { check_gradients(setting, bound); }
  SECTION("bidirectional") {
    setting.causal = false;
    check_gradients(setting, bound);
  }
  SECTION("packed documents with padding") { check_gradients(packed(setting), bound); }
  SECTION("a chunk against a longer past") {
    setting.queries = 4;
    check_gradients(setting, bound);
  }
}

/// The size of a strip and how the input comes in chunks are the framework's business.
inline void check_cuts(RowSetting setting) {
  RowRig<double> rig(setting);
  auto const whole = rig.attend().out;
  for (int size : {1, 4, 7}) {
    INFO("chunks of " << size);
    CHECK_THAT(rig.attend_in_chunks(size).value, CloseTo(whole.value, 1e-13));
  }
  for (int rows : {1, 2, 64}) {
    INFO("strips of " << rows);
    setting.strip_rows = rows;
    CHECK_THAT(RowRig<double>(setting).attend().out.value, CloseTo(whole.value, 1e-13));
  }
}

/// A document in a packed row gets what it gets alone, whatever its neighbour holds.
inline void check_documents(RowSetting const& setting) {
  RowRig<double> rig(packed(setting));
  auto const together = rig.attend().out;
  RowSetting lone = setting;
  lone.batch = 2, lone.length = 6, lone.positions = {}, lone.documents = {};
  RowRig<double> alone(lone);
  alone.q = rig.q.rows(4, 6), alone.k = rig.k.rows(4, 6), alone.v = rig.v.rows(4, 6);
  alone.tensors = rig.tensors;
  auto const expected = alone.attend().out, part = together.rows(4, 6);
  std::size_t const first = expected.value.size() / 2;  // of batch row 0
  CHECK_THAT(std::vector<double>(part.value.begin(), part.value.begin() + first),
             CloseTo(std::vector<double>(expected.value.begin(), expected.value.begin() + first), 1e-13));

  auto const before = rig.analytic();
  for (int h = 0; h < rig.setting.heads; ++h)
    for (int j = 0; j < 4; ++j)
      for (int c = 0; c < rig.setting.dim; ++c)
        rig.q(0, h, j, c) = rig.k(0, rig.kv_head(h), j, c) = std::numeric_limits<double>::quiet_NaN();
  CHECK(rig.attend().out.rows(4, 6).value == part.value);
  auto const after = rig.analytic();
  CHECK(after.q.rows(4, 6).value == before.q.rows(4, 6).value);
  CHECK(after.k.rows(4, 6).value == before.k.rows(4, 6).value);
}

/// Adding a constant to all positions leaves the logits unchanged.
inline void check_translation(RowSetting setting, std::vector<double> const& positions) {
  setting.length = static_cast<int>(positions.size());
  setting.positions = {positions};
  auto const here = RowRig<double>(setting).attend();
  for (double& p : setting.positions[0]) p += 65536;
  auto const there = RowRig<double>(setting).attend();
  CHECK_THAT(there.logits.value, CloseTo(here.logits.value, 1e-12));
  CHECK_THAT(there.out.value, CloseTo(here.out.value, 1e-12));
}

/// Single precision follows double to a few of its units.
inline void check_single(RowSetting const& setting, double bound = 2e-5) {
  RowRig<double> exact(setting);
  RowRig<float> rough(setting);
  CHECK_THAT(rough.attend().out.value, CloseTo(exact.attend().out.value, bound));
  auto const expected = exact.analytic();
  auto const found = rough.analytic();
  CHECK_THAT(found.q.value, CloseTo(expected.q.value, bound));
  CHECK_THAT(found.k.value, CloseTo(expected.k.value, bound));
  for (std::size_t n = 0; n < exact.names.size(); ++n)
    CHECK_THAT(found.tensors[n], CloseTo(expected.tensors[n], 5 * bound));
}

}  // namespace sextant::test
