// A position block at work in one model: what a layer calls before and after attention, forward and backward.
#pragma once
#include <sextant/encoding/position.hpp>
#include <sextant/encoding/token_state.hpp>
#include <sextant/kernels/attention.hpp>
#include <sextant/kernels/rotate.hpp>

#include <memory>
#include <string>
#include <vector>

namespace sextant::encoding {

/// What attention multiplies: one query a branch; one key a key set (encode()) or a branch (gradients()). Usually one
/// of each, the model's own arrays, turned in place.
template <class T>
struct Encoded {
  std::vector<Heads<T>> query, key;
};

template <class T>
class Binding {
 public:
  /// A trainable slice the model must own, in order. `layer` < 0: one for the model.
  struct Slot {
    std::string name;
    int layer = -1;
    Position::Parameter const* parameter = nullptr;
    double initial(Stream const& stream, std::size_t i) const { return parameter->info.init(stream, i); }
  };

  Binding(std::shared_ptr<Position const> position, int layers);
  ~Binding();
  Binding(Binding&&) noexcept;

  Position const& position() const { return *position_; }
  std::vector<Slot> const& slots() const { return slots_; }
  /// One view per slot, row-major; `gradients` may be empty when no backward will run. Views are kept, so an optimiser
  /// may change what they show.
  void attach(std::vector<View1<T>> weights, std::vector<View1<T>> gradients);

  /// Before the first layer: checks positions and forms what all layers share (rotation tables, ranges of offsets).
  void begin(Exec const& exec, Tokens const& tokens);

  /// Positions of the new tokens and of all keys, as attention wants them: [batch or 1, len].
  View2<double> const& query_position() const;
  View2<double> const& key_position() const;

  bool embeds() const;
  /// x [batch * count, model_dim] in place: token_scale x + row(position), for every term that embeds.
  void embed(Exec const& exec, View2<T> const& x);
  /// grad in place: with respect to x before embed(); adds to a trained table's gradient.
  void embed_backward(Exec const& exec, View2<T> const& grad);

  /// Keys that a cache keeps of a token, and the channels of each; see encode().
  int key_sets(int layer) const;
  /// Angles at which keys are met in a layer, at least 1.
  int branches(int layer) const;
  int key_dim(int layer) const;
  /// True when encode() leaves query and key as they are and returns copies.
  bool apart(int layer) const;

  /// Makes room for `capacity` tokens, keeping what is there.
  void reserve(TokenState<T>& state, int layer, int batch, int capacity) const;
  /// Gates and features of the new tokens from x (attention's input [batch * count, model_dim]) and from the still
  /// unturned q and k [batch, heads, count, head_dim]; then turns q and k in place, or maps them into copies.
  Encoded<T> encode(Exec const& exec, int layer, View2<T const> const& x, Heads<T> const& q, Heads<T> const& k,
                    TokenState<T>& state);
  /// Fills what attention needs of a layer: query, key, positions, scale, chain, rows and branches. `keys` has one
  /// entry a key set over keys [0, first + count). Valid until the next call for any layer.
  void connect(Exec const& exec, int layer, std::vector<Heads<T>> const& queries,
               std::vector<Heads<T const>> const& keys, TokenState<T>& state, bool gradient,
               kernels::AttentionInput<T>& in);
  /// Where attention's backward writes the gradients of what encode() returned, a branch each; grad_q and grad_k
  /// themselves where query and key were turned in place.
  Encoded<T> gradients(int layer, Heads<T> const& grad_q, Heads<T> const& grad_k);
  /// After attention's backward into `gradients`: turns q and k back where they were turned in place and a gate reads
  /// them, leaves the gradients before the turn in grad_q and grad_k, adds what gates and features send back to grad_q, grad_k and grad_x
  /// [batch * count, model_dim], and adds to the slots' gradients. first must be 0.
  void encode_backward(Exec const& exec, int layer, View2<T const> const& x, Heads<T> const& q, Heads<T> const& k,
                       Encoded<T> const& gradients, Heads<T> const& grad_q, Heads<T> const& grad_k,
                       View2<T> const& grad_x, TokenState<T>& state);
  /// Whether encode() or its backward reads x: some gate or feature has the token as its input.
  bool reads_tokens() const;

  /// inv_freq and attention factor as encode() uses them for a sequence of `length` tokens, for a term of a layer.
  Position::Frequencies frequencies(int layer, int term, double length = 0, double position = Position::far) const;
  /// Whether tokens of a sequence that was `before` tokens long turn as those of one of `after`, in all layers: if not,
  /// what a cache holds of them is wrong.
  bool turns_alike(double before, double after) const;

 private:
  struct State;
  struct TermState;
  struct TermSpectra;
  std::size_t terms() const { return position_->terms().size(); }
  bool active(int layer, std::size_t term) const;
  int group() const { return position_->shape().heads / position_->shape().kv_heads; }
  /// The one term of a layer that has branches; null when there is none or several, whose keys then lie a set a branch.
  Term const* only_branching(int layer) const;
  int key_set(int layer, int branch) const;
  /// The one term that rotates in a layer, where query and key are mapped by nothing else and every copy has its own turn.
  Term const* only_turning(int layer) const;
  std::vector<double> weights_of(int layer, std::size_t term) const;
  Tensors tensors_of(int layer, std::size_t term) const;
  kernels::RotationSpan span_of(Term const& term, Side side) const;
  /// What the sequences of this call turn by; with `slope` also d scaled / d plain of each.
  TermSpectra spectra_of(int layer, std::size_t term, bool slope) const;
  kernels::Spectra arrays_of(TermSpectra const& spectra) const;
  void note_circumstances();

  void name_slots();
  void form_positions(std::size_t term);
  void form_embedding_rows(Exec const& exec, std::size_t term);
  /// f(term, gate, its numbers in double) for every active gate of a layer; likewise features.
  template <class F>
  void for_each_gate(int layer, F&& f) const;
  template <class F>
  void for_each_feature(int layer, F&& f) const;
  void form_tables(Exec const& exec, int layer, std::size_t term, TokenState<T> const& state);
  void turn_all(Exec const& exec, int layer, Encoded<T> const& x, bool inverse);
  Encoded<T> map_apart(Exec const& exec, int layer, Heads<T> const& q, Heads<T> const& k, TokenState<T>& state);
  /// f(b, the term's head, the model's head) for the heads of a side, concurrently.
  template <class F>
  void for_mapped_heads(Exec const& exec, std::size_t term, Side side, F&& f);
  void prepare_transform(Exec const& exec, int layer, std::size_t term, bool gradient);
  void map_transforms(Exec const& exec, int layer, Heads<T> const& q, Heads<T> const& k, Encoded<T> const& out);
  void map_transforms_backward(Exec const& exec, int layer, Heads<T> const& q, Heads<T> const& k,
                               Encoded<T> const& gradients, Heads<T> const& grad_q, Heads<T> const& grad_k);
  void scale_queries(Exec const& exec, int layer, std::vector<Heads<T>> const& queries);
  void clear_gradients(int layer, TokenState<T>& state) const;
  void connect_bias(Exec const& exec, int layer, std::size_t term, TokenState<T>& state, bool gradient);
  void connect_rows(Exec const& exec, int layer, std::size_t term, TokenState<T>& state, bool gradient, double scale);
  void finish_logits(int layer);
  void rotary_backward(Exec const& exec, int layer, Encoded<T> const& turned, Encoded<T> const& gradients,
                       TokenState<T>& state);
  void collect_apart(Exec const& exec, int layer, Encoded<T> const& gradients, Heads<T> const& grad_q,
                     Heads<T> const& grad_k);
  void turn_back(Exec const& exec, int layer, Heads<T> const& q, Heads<T> const& k);
  void gates_backward(Exec const& exec, int layer, View2<T const> const& x, Heads<T> const& q, Heads<T> const& k,
                      Heads<T> const& grad_q, Heads<T> const& grad_k, View2<T> const& grad_x, TokenState<T>& state);
  std::shared_ptr<Position const> position_;
  std::vector<Slot> slots_;
  std::unique_ptr<State> state_;
};

}  // namespace sextant::encoding
