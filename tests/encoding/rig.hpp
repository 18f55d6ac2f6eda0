// A position block around the plain attention of reference::, in double: what the tests of this room measure on.
#pragma once
#include <sextant/encoding/binding.hpp>
#include <sextant/kernels/attention_team.hpp>

#include <memory>
#include <string>
#include <vector>

namespace sextant::test {

struct Setting {
  encoding::PositionChoice choice;
  int batch = 2, heads = 4, kv_heads = 4, length = 9, head_dim = 8, value_dim = 3, model_dim = 6;
  bool causal = true;
  std::vector<std::vector<double>> positions = {};  ///< [batch or 1][length]; empty: 0, 1, 2, ...
  std::vector<std::vector<int>> documents = {};     ///< [batch][length]; empty: one document a row
  double target_length = 0;
  int layers = 1;
  bool teams = false;  ///< attend() and analytic() by kernels::team, a device's path, instead of reference::
};

/// One encoding with default or given options.
encoding::PositionChoice block(std::string const& name, encoding::Options options = {});
/// Several, summed; and one under a scaling.
encoding::PositionChoice sum(std::vector<encoding::Choice> encodings);
encoding::PositionChoice scaled(encoding::Choice encoding, encoding::Choice scaling, int trained_length = 0);

/// Query, key, value and token embedding are random numbers of a fixed seed, parameters start where they do and a bit on.
class Rig {
 public:
  explicit Rig(Setting setting);

  Setting setting;
  std::shared_ptr<encoding::Position const> position;
  View4<double> q, k, v;  ///< [batch, heads or kv_heads, length, channels], before the turn
  View2<double> x;        ///< [batch * length, model_dim]
  std::vector<View1<double>> parameters, gradients;
  encoding::Binding<double> binding;

  /// Query and key after encode(); both start from q and k.
  struct Turned {
    View4<double> q, k;
  };
  Turned encode();

  /// [batch, heads, length, length]: scale q.k and every bias, pairs that causality hides included, unless the encoding
  /// works on whole rows or hides pairs itself: then hidden ones are -infinity.
  std::vector<double> logits();
  std::vector<double> logits_at(double scale);
  /// [batch, heads, length, value_dim] by reference::attention_forward, or by teams.
  std::vector<double> attend();
  /// The same from the fused kernel, fed in chunks with a cache of turned keys and gates.
  std::vector<double> attend_in_chunks(int size);
  /// Token embedding after the stage `embed`.
  std::vector<double> embed();

  /// A scalar that every input and parameter moves: fixed random weights times attend() and embed().
  double loss();
  struct Slopes {
    std::vector<double> q, k, x;
    std::vector<std::vector<double>> parameters;
  };
  Slopes analytic();
  /// Central differences of loss() over every number but the values, which no encoding touches.
  Slopes numeric(double step = 1e-5);

 private:
  void begin(int first, int count);
  /// query and key start as copies of q and k; encode() may turn these in place.
  struct Pass {
    View4<double> q, k;
    encoding::TokenState<double> state;
    encoding::Encoded<double> encoded;
    kernels::AttentionInput<double> in;
  };
  void connect(Pass& pass, bool gradient, double scale = 0);
  void forward(Pass const& pass, View4<double> const& out, View3<double> const& log_sum_exp) const;
  View2<double> ids_;
  View2<int> documents_;
  View4<double> weight_out_;
  View2<double> weight_x_;
};

}  // namespace sextant::test
