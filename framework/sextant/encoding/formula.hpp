// The vocabulary a plugin's formulas are written in. One name each for what the field calls by that name.
#pragma once
#include <sextant/base/dual.hpp>
#include <sextant/base/math.hpp>
#include <sextant/base/number_format.hpp>

#include <optional>
#include <vector>

namespace sextant::encoding {

/// What a formula may know of the model it sits in.
struct Shape {
  int heads = 1;  ///< query heads
  int kv_heads = 1;
  int head_dim = 1;        ///< channels of a head that this encoding may act on
  int value_dim = 0;       ///< channels of a head's values; 0: head_dim of the model
  int model_dim = 1;       ///< width of the token embedding
  int trained_length = 0;  ///< tokens; 0 when unknown
};

/// Weights of one head as an indexable list, for encodings whose count depends on options (T5's buckets).
template <class T>
struct WeightArray {
  T const* data;
  KOKKOS_FUNCTION T const& operator[](int i) const { return data[i]; }
};
/// For encodings without weights.
template <class T>
struct NoWeights {};

/// Which head a formula is asked about, among how many.
struct Head {
  int index = 0, count = 1;
};

/// One pair (query i, key j) of one head. Offsets are query - key, in tokens.
template <class T>
struct Site {
  using Number = Scalar<T>;
  Number offset_;
  double query_position, key_position;
  Head head;
  T const* query_gates;
  T const* key_gates;

  KOKKOS_FUNCTION Number offset() const { return offset_; }
  KOKKOS_FUNCTION Number distance() const { return offset_ < 0 ? -offset_ : offset_; }
  /// Gate `g` of the query's or the key's token, after its activation and scan.
  KOKKOS_FUNCTION T query_gate(int g = 0) const { return query_gates[g]; }
  KOKKOS_FUNCTION T key_gate(int g = 0) const { return key_gates[g]; }
};

/// Where a gate's pre-activation z = (w . input) / divisor + b reads.
enum class GateInput { token, query, key };
/// Along the row: none; inclusive C_i = sum of gate_0..i; exclusive sum of gate_0..i-1. Scans restart at documents,
/// run in double, and reach a bias formula only as differences: query_gate() - key_gate() is exact, each alone is
/// relative to an arbitrary origin.
enum class Scan { none, inclusive, exclusive };

/// One number per token and head, formed once per token before attention.
struct GateSpec {
  GateInput input = GateInput::token;
  Scan scan = Scan::none;
  char const* weight_name = nullptr;  ///< w [heads, input width]; null: z = b alone
  char const* bias_name = nullptr;    ///< b [heads]; null: none
  double divisor = 1;                 ///< 0: sqrt(head_dim)
  bool unit_weight = false;           ///< w / max(|w|, unit_eps)
  double unit_eps = 1e-6;
  double weight_std = 0.02;      ///< initial N(0, weight_std^2); 0: 1 / sqrt(head_dim)
  bool weight_zero = false;      ///< w starts at 0 instead
  bool active = true;            ///< false: options switched this gate off; it reads as 0 and has no parameters
  bool shared_by_heads = false;  ///< one row of w and one b serve all heads (token input only)
};

/// Several numbers per token and head, projected from the token before attention and kept in the cache: probes, keys of
/// another kind. feature = conv(up (down x)) or conv(weight x); bias-free.
struct FeatureSpec {
  char const* name = "";  ///< parameters: NAME [heads, width, model_dim], or NAME_down [rank, model_dim] and NAME_up
                          ///< [heads, width, rank]; NAME_conv [heads, width, taps]
  int width = 1;          ///< numbers per token and head
  int rank = 0;           ///< > 0: through a bottleneck of this width
  int taps = 0;  ///< > 0: causal depthwise convolution over tokens, sum_t conv[t] f_{i-t}; starts anew at documents
  double std = 0.02;  ///< initial N(0, std^2) of the projections; conv starts as the identity
};

/// Pairs of channels (i, i + n/2), or (2i, 2i + 1).
enum class Layout { half, interleaved };

/// How a rotary encoding turns query and key: (x, y) -> (x cos a - y sin a, y cos a + x sin a) with
/// a = orientation * phase(position) * inv_freq[pair].
struct Rotary {
  int rotary_dim = 0;  ///< even; channels from here on pass through
  Layout layout = Layout::half;
  int orientation = 1;
  bool per_head = false;       ///< inv_freq differs between heads
  std::optional<double> base;  ///< theta of the ladder base^(-2i/rotary_dim), where there is one
  int axes = 1;         ///< coordinates of a position; angle = sum over axes of coordinate * inv_freq[axis][pair]
  int phase_gate = -1;  ///< >= 0: the value of this gate, after its scan, is the phase instead of the position
};

/// Query or key.
enum class Side { query, key };

/// Frequencies first * base^(-2 pair / rotary_dim): a ladder whose neighbours have one ratio.
struct Ladder {
  double base = 1;
  double first = 1;  ///< radians per unit of phase of pair 0
};

/// What a scaling may know of the encoding and the run it is applied to. Scalings apply in order, and each knows what
/// those before it left.
struct ScalingContext {
  int pair = 0;
  int rotary_dim = 0;
  std::optional<double> base;  ///< of the ladder that the frequencies lie on; absent when they lie on none
  double trained_length = 0;   ///< tokens
  double target_length = 0;    ///< tokens this run evaluates at
  int head_dim = 0;
  double first = 1;  ///< frequency of pair 0 of that ladder
  double length =
      0;  ///< tokens of the sequence: its largest position + 1; 0: not known, so none past the trained length
  /// target / trained length, and 1 for targets within the trained length.
  double needed_factor() const {
    return trained_length > 0 && target_length > trained_length ? target_length / trained_length : 1;
  }
};

}  // namespace sextant::encoding
