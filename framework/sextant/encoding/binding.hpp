// A position block at work in one model: what a layer calls before and after attention, forward and backward.
#pragma once
#include <sextant/encoding/position.hpp>
#include <sextant/kernels/rotate.hpp>

#include <memory>
#include <string>
#include <vector>

namespace sextant::encoding {

/// The tokens of one call. Keys are numbered from the start of the cache; the new tokens are [first, first + count).
/// Without a cache first = 0.
struct Tokens {
  int batch = 0, first = 0, count = 0;
  View2<double> position;  ///< [batch or 1, first + count], tokens; may be fractional, repeat or restart
  View2<int> document;     ///< [batch, first + count] or empty; negative marks padding; scans restart where it changes
};

/// Per-layer numbers that outlive a call: gate values of every token seen so far. Part of a key cache.
class GateCache {
 public:
  struct Gate {
    View3<double> z, value;  ///< [batch, heads, capacity]: before the activation; after activation and scan
    View3<double> grad;      ///< d loss / d value
  };
  std::vector<Gate> gates;  ///< all gates of all terms, in order
  int capacity = 0, batch = 0;
  std::size_t bytes_per_token() const;
};

template <class U>
struct GateInputRows;

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

  /// Makes room for `capacity` tokens, keeping what is there.
  void reserve(GateCache& cache, int batch, int capacity) const;
  /// Gates of the new tokens from x (attention's input [batch * count, model_dim]) and from the still unturned q and k,
  /// then turns q and k [batch, heads, count, head_dim] in place.
  void encode(Exec const& exec, int layer, View2<T const> const& x, Heads<T> const& q, Heads<T> const& k,
              GateCache& cache);
  /// The chain for attention over keys [0, first + count). Valid until the next call for any layer.
  std::vector<kernels::TileModifier<T>*> modifiers(Exec const& exec, int layer, GateCache& cache, bool gradient);
  /// After attention's backward: un-turns q, k (activations, restored in place) and grad_q, grad_k, adds what the gates
  /// send back to grad_q, grad_k and grad_x [batch * count, model_dim], and adds to the slots' gradients. first must be 0.
  void encode_backward(Exec const& exec, int layer, View2<T const> const& x, Heads<T> const& q, Heads<T> const& k,
                       Heads<T> const& grad_q, Heads<T> const& grad_k, View2<T> const& grad_x, GateCache& cache);
  /// Whether encode() or its backward reads x: some gate has a token as its input.
  bool reads_tokens() const;

  /// inv_freq and attention factor as encode() uses them, for the n-th rotary term of a layer.
  Position::Frequencies frequencies(int layer, int term) const;

 private:
  struct State;
  std::vector<double> weights_of(int layer, std::size_t term) const;
  kernels::RotationSpan span_of(Term const& term, int group) const;
  template <class U>
  GateInputRows<U> gate_input(GateSpec const& spec, Term const& term, View2<U> const& x, Heads<U> const& q,
                              Heads<U> const& k) const;
  /// f(term, gate, its weights in double) for every active gate of a layer.
  template <class F>
  void for_each_gate(int layer, F&& f) const;
  void form_table(Exec const& exec, int layer, std::size_t term);
  void rotary_backward(Exec const& exec, int layer, std::size_t term, Heads<T> const& q, Heads<T> const& k,
                       Heads<T> const& grad_q, Heads<T> const& grad_k);
  std::shared_ptr<Position const> position_;
  std::vector<Slot> slots_;
  std::unique_ptr<State> state_;
};

}  // namespace sextant::encoding
