// Dual chunk attention: positions restart in every chunk; queries meet their own chunk, the one before, and all earlier
// ones at three positions of their own, so that no distance past the cap is ever met. No training.
//
//   chunk c = floor(p / S), place r = p - c S;  keys turn by r_j in all cases
//   queries turn by r_i in their own chunk, min(r_i + S, cap) one chunk back, cap for all others
//   rho = query's position - r_j;  cap = S + w - 1 (paper) or S + w (code)
//
// Source: An et al., "Training-Free Long-Context Scaling of Large Language Models", arXiv:2402.17463.
#include <sextant/encoding/ladder.hpp>
#include <sextant/encoding/remap.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
enum class CapMode { paper, code };

struct DualChunk : LadderTurn {
  int chunk = 1024;
  int local = 128;
  CapMode cap_mode = CapMode::paper;

  static constexpr char const* summary = "positions restart in chunks; three queries meet one set of turned keys";
  static constexpr char const* formula =
      "logit(i, j) = q_i^T R(-rho t) k_j / sqrt(D), rho = {r_i, min(r_i + S, cap), cap} - r_j, r = p mod S";
  static constexpr bool orthogonal = true;

  static auto schema() {
    return ladder_schema<DualChunk>()
        .option("chunk", &DualChunk::chunk, "S: tokens of a chunk", at_least(1), Unit{"tokens"})
        .option("local", &DualChunk::local, "w: distance that stays exact across the edge of a chunk, at most S",
                at_least(0), Unit{"tokens"})
        .choice("cap_mode", &DualChunk::cap_mode, "largest query position: S + w - 1, or the released code's S + w",
                {{"paper", CapMode::paper}, {"code", CapMode::code}});
  }
  void check(Shape const&) const {
    expect(local <= chunk, "dual_chunk.local is ", local, ", expected at most the chunk, ", chunk);
  }

  enum Branch { same, before, earlier };
  static constexpr int branches() { return 3; }
  static constexpr int key_sets() { return 1; }
  static constexpr int key_set(int) { return 0; }

  double index(double position) const { return std::floor(position / chunk); }
  double place(double position) const { return position - chunk * index(position); }
  double cap() const { return chunk + local - (cap_mode == CapMode::paper ? 1 : 0); }

  int branch(double query, double key) const {
    double const back = index(query) - index(key);
    return back == 0 ? same : back == 1 ? before : earlier;
  }
  /// Every whole number of chunks between the ends occurs.
  int branch_of_block(double query_least, double query_most, double key_least, double key_most) const {
    double const least = index(query_least) - index(key_most), most = index(query_most) - index(key_least);
    if (least >= 2 || most < 0) return earlier;
    return least == most ? (least == 0 ? same : before) : int(BranchRule::mixed);
  }
  double query_phase(int branch, double position) const {
    if (branch == earlier) return cap();
    return branch == same ? place(position) : std::min(place(position) + chunk, cap());
  }
  double key_phase(int, double position) const { return place(position); }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::DualChunk, "dual_chunk", "arXiv:2402.17463")
