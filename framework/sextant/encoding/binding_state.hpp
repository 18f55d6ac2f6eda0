// Inside a Binding: what it holds of each term, and small helpers its files share.
#pragma once
#include <sextant/encoding/binding.hpp>
#include <sextant/encoding/branches.hpp>
#include <sextant/encoding/features.hpp>
#include <sextant/encoding/gates.hpp>

#include <algorithm>
#include <compare>
#include <map>

namespace sextant::encoding {

/// What is known of the positions of one call.
struct Ranges {
  double least_offset = 0, most_offset = 0;
  bool whole = true;
};

/// What the frequencies of a token may depend on, beside its term and layer.
struct Circumstance {
  double length = 0;                ///< of its sequence
  double position = Position::far;  ///< the last of Position::kept() that it has reached, or 0
  auto operator<=>(Circumstance const&) const = default;
};

/// Slots of one term in one layer; -1: none.
struct Owner {
  int weights = -1, table = -1;
  struct Gate {
    int projection = -1, bias = -1;
  };
  struct Feature {
    int weight = -1, down = -1, up = -1, conv = -1;
  };
  std::vector<Gate> gates;
  std::vector<Feature> features;
  std::vector<int> tensors;
};

/// The different frequencies that one term turns the tokens of a call by.
template <class T>
struct Binding<T>::TermSpectra {
  std::vector<Position::Frequencies> each;
  std::vector<std::vector<double>> slope;  // of each, where asked for
  std::vector<int> of_circumstance;        // State::circumstances -> each
  Rotary const& form() const { return each.front().form; }
  bool turns_as(TermSpectra const& other) const {
    return std::equal(each.begin(), each.end(), other.each.begin(), other.each.end(),
                      [](auto const& a, auto const& b) { return a.turns_as(b); });
  }
};

template <class T>
struct Binding<T>::TermState {
  Stages stages;
  std::unique_ptr<Bias<T>> bias;
  std::vector<std::unique_ptr<Transform<T>>> transforms;  // one a layer: what it decomposed serves the next call
  std::unique_ptr<RowTerm<T>> rows;
  std::vector<double> constant;           // weights that are not trained
  int first_gate = 0, first_feature = 0;  // in TokenState
  int lifted = 0;                         // channels that a transform makes of the term's
  int extra_begin = 0;                    // those beyond the term's own channels lie from here on

  // Rotary: without branches one turn for query and key; with them one a branch, then one a key set.
  struct Turn {
    View4<double> phase;  // [batch or 1, heads or 1, count, axes] of the new tokens
    kernels::RotationTable<T> table;
  };
  std::vector<Turn> turns;
  TermSpectra formed;        // what the tables were formed for,
  kernels::Spectra spectra;  // as arrays
  bool tables_fresh = false;
  View3<double> coordinates;  // transforms: of the new tokens
  View2<T> rows_embedded;     // embedding rows of the new tokens

  Turn& turn_of(Side side, int set) {
    if (stages.branches == 0) return turns.front();
    return turns[side == Side::query ? set : stages.branches + set];
  }
};

template <class T>
struct Binding<T>::State {
  std::vector<std::vector<Owner>> owners;  // [layer][term]
  std::vector<TermState> terms;
  std::vector<View1<T>> weights, gradients;
  Tokens tokens;
  Ranges ranges;
  View2<double> query_position, key_position;
  View2<double> length;  // of the sequence of every token, [batch, first + count]; empty: no scaling asks
  std::vector<Circumstance> circumstances;  // those of the new tokens, each once
  View2<int> circumstance_of;               // [batch or 1, count]: index into `circumstances`; empty: there is one
  int layers = 0, gates = 0, features = 0;
  int extra = 0;  // channels beyond head_dim
  BranchChoice branch_choice;
  std::vector<View4<T>> grad_query, grad_key;  // a branch each, where query and key are apart
  std::vector<T> strip;

  View1<T> weight(int slot) const { return slot < 0 ? View1<T>() : weights[slot]; }
  View1<T> gradient(int slot) const { return slot < 0 || gradients.empty() ? View1<T>() : gradients[slot]; }
  FeatureWork<T> feature_work(Term const& term, FeatureSpec const& spec, Owner::Feature const& owner) const {
    return {spec,
            term.heads,
            weight(owner.weight),
            weight(owner.down),
            weight(owner.up),
            weight(owner.conv),
            gradient(owner.weight),
            gradient(owner.down),
            gradient(owner.up),
            gradient(owner.conv)};
  }
};

template <class T>
std::vector<double> to_doubles(View1<T> const& view) {
  std::vector<double> out(view.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(view(i));
  return out;
}
template <class T>
void add_to(View1<T> const& view, std::vector<double> const& more) {
  for (std::size_t i = 0; i < more.size(); ++i) view(i) += static_cast<T>(more[i]);
}

}  // namespace sextant::encoding
