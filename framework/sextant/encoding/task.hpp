// A task: rows of tokens with a known answer, drawn one example at a time. A task plugin is a struct of options with
//
//   int vocabulary() const;                                    tokens are 0 .. vocabulary() - 1; 0 is padding
//   int row_length(int length) const;                          most tokens of an example of that length
//   void fill(Draw& draw, int length, Row& row) const;         one example: row.say() and row.answer()
//   void check(int length) const;                              optional: throws Error where there is none of that length
//   int reach(int length) const;                               optional: rows say where tokens stand, at 0 .. reach - 1
//   static constexpr bool by_depth = true;                     optional: something is told at draw.depth() and asked later
//   static constexpr char const* length_means = "symbols";     what a length counts
//
// and the option `lengths` of ByLengths, registered with SEXTANT_PLUGIN as encodings are.
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/base/philox.hpp>
#include <sextant/encoding/choice.hpp>
#include <sextant/encoding/registry.hpp>
#include <sextant/encoding/schema.hpp>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

namespace sextant::encoding {

/// Random numbers of one example in the order they are asked for: a function of the stream, the example's number and the
/// attempt alone.
class Draw {
 public:
  Draw(Stream const& stream, std::uint64_t example, std::uint32_t attempt = 0, std::optional<double> depth = {})
      : stream_(stream), example_(example), next_(std::uint64_t{attempt} << 32), depth_(depth) {}

  /// Uniform in [0, n).
  int below(int n) { return static_cast<int>(stream_.below(n, next_++, example_)); }
  /// `count` distinct numbers of [0, n), in random order. Throws Error when count > n.
  std::vector<int> distinct(int count, int n);
  /// Where in the row something is told, as a share of what can come before it, 0 to 1: given, or drawn.
  double depth() { return depth_ ? *depth_ : stream_.uniform(next_++, example_); }
  /// One of the places 0 .. places - 1 that depth() stands for.
  int place(int places) { return std::min(places - 1, static_cast<int>(std::floor(depth() * places))); }

 private:
  Stream stream_;
  std::uint64_t example_, next_;
  std::optional<double> depth_;
};

/// One example: its tokens, and which of them are the answer and are to be predicted from those before.
struct Row {
  std::vector<std::int32_t> tokens;
  std::vector<std::uint8_t> scored;    ///< 1 where the token is part of the answer
  std::vector<double> positions = {};  ///< where each token stands; empty: 0, 1, 2, ...
  std::optional<int> place = {};       ///< of the tokens that follow

  void say(int token) { put(token, 0); }
  void answer(int token) { put(token, 1); }
  /// All tokens that follow stand at `position`, until it is called again. A task that places its tokens calls it before
  /// the first, and has reach().
  void stand(int position) { place = position; }

 private:
  void put(int token, std::uint8_t is_answer) {
    tokens.push_back(token), scored.push_back(is_answer);
    if (place) positions.push_back(*place);
  }
};

/// The option that all tasks have.
struct ByLengths {
  Numbers lengths;
};
template <class P>
Schema<P> task_schema() {
  return Schema<P>{}.option("lengths", static_cast<Numbers P::*>(&P::lengths),
                            "shortest and longest example to train on; every length between them is as likely",
                            at_least(1), required);
}

/// A task with its options.
class Task {
 public:
  virtual ~Task();
  virtual int vocabulary() const = 0;
  /// Throws Error where there is no example of that length.
  virtual int row_length(int length) const = 0;
  /// Whether its rows say where their tokens stand.
  virtual bool places() const = 0;
  /// One past the largest position of an example of that length.
  virtual int reach(int length) const = 0;
  virtual Row example(int length, Draw& draw) const = 0;
  virtual bool by_depth() const = 0;
  virtual char const* length_means() const = 0;

  int shortest() const { return shortest_; }  ///< of training
  int longest() const { return longest_; }
  Description const& description() const { return *description_; }
  Choice const& choice() const { return choice_; }

 protected:
  /// Throws Error unless it is two whole numbers that do not fall.
  void set_lengths(Numbers const& lengths);

 private:
  friend class Registry;
  int shortest_ = 0, longest_ = 0;
  std::shared_ptr<Description const> description_;
  Choice choice_;
};

template <class P>
concept IsTask = requires(P const p, Draw& draw, Row& row) {
  { p.vocabulary() } -> std::convertible_to<int>;
  { p.row_length(1) } -> std::convertible_to<int>;
  p.fill(draw, 1, row);
};

template <class P>
class TaskAdapter final : public Task {
 public:
  explicit TaskAdapter(P const& plugin) : plugin_(plugin) { set_lengths(plugin.lengths); }
  int vocabulary() const override { return plugin_.vocabulary(); }
  int row_length(int length) const override {
    if constexpr (requires { plugin_.check(length); }) plugin_.check(length);
    return plugin_.row_length(length);
  }
  bool places() const override {
    return requires(P const p) { p.reach(1); };
  }
  int reach(int length) const override {
    if constexpr (requires { plugin_.reach(length); })
      return plugin_.reach(length);
    else
      return row_length(length);
  }
  Row example(int length, Draw& draw) const override {
    Row row;
    plugin_.fill(draw, length, row);
    return row;
  }
  bool by_depth() const override {
    if constexpr (requires { P::by_depth; })
      return P::by_depth;
    else
      return false;
  }
  char const* length_means() const override { return P::length_means; }

 private:
  P plugin_;
};

}  // namespace sextant::encoding
