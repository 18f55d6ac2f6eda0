// RoPE for video, positions (t, h, w): pairs of channels are divided between the axes.
//
//   per_axis  consecutive slices of 2 s_a channels, each its own RoPE with its own ladder base^(-f/s_a)
//   shared    one ladder base^(-f/n) over all n = s_t + s_h + s_w pairs; each pair takes one axis.
//             contiguous: the first s_t pairs t, then h, then w.
//             interleaved: all pairs t, but h takes pairs 1, 4, 7, .. below 3 s_h and w pairs 2, 5, 8, .. below 3 s_w
//
// Left-over channels pass. Pairs (f, f + s_a) inside the slices of per_axis (layout half) are a direct_sum over channels of
// one rope3d an axis.
//
// Source: per_axis as in CogVideoX, arXiv:2408.06072; shared as in Qwen2-VL's M-RoPE, arXiv:2409.12191, interleaved as in
// Qwen3-VL.
#include <common/raster.hpp>
#include <sextant/encoding/ladder.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
enum class VideoLadder { per_axis, shared };
enum class SectionOrder { contiguous, interleaved };

struct Rope3d {
  VideoLadder kind = VideoLadder::shared;
  Numbers sections;
  SectionOrder order = SectionOrder::contiguous;
  Layout layout = Layout::half;
  double base = 10000;
  Numbers grid;

  static constexpr char const* summary = "RoPE for positions with three coordinates, as in video models";
  static constexpr char const* formula = "angle of pair f = p[axis(f)] t_f";
  static constexpr bool orthogonal = true;

  static std::vector<Example> examples() {
    Options const frames{{"sections", std::vector<double>{2, 1, 1}}, {"grid", std::vector<double>{2, 2}}};
    return {{frames, {}}};
  }

  static auto schema() {
    return Schema<Rope3d>{}
        .choice("ladder", &Rope3d::kind, "one ladder over all pairs, or one for each axis",
                {{"shared", VideoLadder::shared}, {"per_axis", VideoLadder::per_axis}})
        .option("sections", &Rope3d::sections, "pairs of t, h and w", at_least(0), required)
        .choice("section_order", &Rope3d::order, "shared: which pairs an axis takes",
                {{"contiguous", SectionOrder::contiguous}, {"interleaved", SectionOrder::interleaved}})
        .choice("layout", &Rope3d::layout, "which channels form a pair; interleaved for per_axis with several axes",
                layouts())
        .option("base", &Rope3d::base, "theta of the ladders", above(1))
        .option(
            "grid", &Rope3d::grid,
            "[width, height] of a frame: position p is (t, h, w) in raster order; absent: positions are coordinates",
            at_least(1));
  }

  int pairs() const { return static_cast<int>(sections[0] + sections[1] + sections[2]); }
  int section(int axis) const { return static_cast<int>(sections[axis]); }

  void check(Shape const& shape) const {
    expect(sections.count == 3, "rope3d.sections has ", sections.count, " entries, expected 3: pairs of t, h and w");
    for (int a = 0; a < 3; ++a)
      expect(sections[a] == std::floor(sections[a]), "rope3d.sections entry ", a + 1, " is ", sections[a],
             ", expected a whole number of pairs");
    expect(pairs() >= 1 && 2 * pairs() <= shape.head_dim, "rope3d.sections are ", pairs(), " pairs, expected 1 to ",
           shape.head_dim / 2, " (head_dim ", shape.head_dim, ")");
    expect(kind == VideoLadder::shared || order == SectionOrder::contiguous,
           "rope3d.section_order is interleaved, which is for ladder shared");
    int const axes = (sections[0] > 0) + (sections[1] > 0) + (sections[2] > 0);
    expect(kind == VideoLadder::shared || layout == Layout::interleaved || axes == 1,
           "rope3d.layout is half, and with ladder per_axis each axis would pair up inside its own slice of channels: "
           "write "
           "a direct_sum over channels of one rope3d an axis, sections [s, 0, 0], [0, s, 0], [0, 0, s]; or layout "
           "interleaved");
    expect_grid("rope3d", grid, 2);
  }

  int axis_of(int pair) const {
    if (order == SectionOrder::interleaved) return pair < 3 * section(pair % 3) ? pair % 3 : 0;
    return pair < section(0) ? 0 : pair < section(0) + section(1) ? 1 : 2;
  }
  int first_pair(int axis) const { return axis == 0 ? 0 : axis == 1 ? section(0) : section(0) + section(1); }

  Rotary rotary(Shape const&) const {
    Rotary form{.rotary_dim = 2 * pairs(), .layout = layout, .axes = 3};
    if (kind == VideoLadder::shared) form.base = base;
    return form;
  }
  template <class T>
  T inv_freq(NoWeights<T> const&, int axis, int pair, Rotary const&) const {
    if (axis_of(pair) != axis) return T(0);
    return T(kind == VideoLadder::shared ? ladder(base, pair, 2 * pairs())
                                         : ladder(base, pair - first_pair(axis), 2 * section(axis)));
  }

  void coordinates(double position, double* out) const {
    double whw[3];
    raster("rope3d", grid, position, 3, whw);
    for (int a = 0; a < 3; ++a) out[a] = whw[2 - a];
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Rope3d, "rope3d", "arXiv:2408.06072")
