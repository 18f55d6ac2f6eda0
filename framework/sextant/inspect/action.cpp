#include <sextant/base/error.hpp>
#include <sextant/inspect/action.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::inspect {
using encoding::Encoding;
using encoding::Side;
using encoding::Transform;

// A rotary term on this head: pairs of channels and what they turn by.
struct Action::Turn {
  std::size_t term = 0;
  int head = 0;  // of the term
  encoding::Position::Frequencies frequencies;
  double const* inv_freq = nullptr;  // [axes][pairs] of this head
  int branches = 0;

  int pairs() const { return frequencies.form.rotary_dim / 2; }
  int first(Term const& at, int pair) const {
    return at.channel_begin + (frequencies.form.layout == encoding::Layout::interleaved ? 2 * pair : pair);
  }
  int second(Term const& at, int pair) const {
    return first(at, pair) + (frequencies.form.layout == encoding::Layout::interleaved ? 1 : pairs());
  }
  bool hidden(Encoding const& e, double i, double j) const { return branches > 0 && e.branch(i, j) < 0; }
  // Angle by which the key's pair is ahead of the query's.
  double angle(Subject const& subject, Encoding const& e, double i, double j, int pair) const {
    auto const& form = frequencies.form;
    if (form.phase_gate >= 0) {
      auto const g = static_cast<std::size_t>(form.phase_gate);
      return form.orientation * inv_freq[pair] * (subject.gates(term, head, j)[g] - subject.gates(term, head, i)[g]);
    }
    auto const by = [&](double key, double query) {
      Term const& at = subject.terms()[term];
      return form.orientation * inv_freq[pair] *
             (subject.position().scaled_phase(at, key) - subject.position().scaled_phase(at, query));
    };
    if (branches > 0) {
      int const b = e.branch(i, j);
      return by(e.key_phase(e.key_set(b), j), e.query_phase(b, i));
    }
    if (form.axes == 1) return by(e.phase(j), e.phase(i));
    std::vector<double> at_i(form.axes), at_j(form.axes);
    e.coordinates(i, at_i.data());
    e.coordinates(j, at_j.data());
    double angle = 0;
    for (int a = 0; a < form.axes; ++a) angle += inv_freq[a * pairs() + pair] * (at_j[a] - at_i[a]);
    return form.orientation * angle;
  }
};

// A transforming term on this head.
struct Action::Map {
  std::size_t term = 0;
  int head = 0;
  int lifted = 0;
  std::unique_ptr<Transform<double>> transform;

  // Images of the unit vectors and, last, of zero: [channels + 1, lifted].
  Matrix images(Subject const& subject, Side side, double position) const {
    Term const& at = subject.terms()[term];
    int const axes = std::max(1, at.stages.axes);
    Transform<double>::Inputs in;
    in.batch = in.count = 1;
    in.coordinates = View3<double>("inspect::coordinates", 1, 1, axes);
    at.encoding->coordinates(position, &in.coordinates(0, 0, 0));
    in.heads = at.heads;
    in.kv_heads = at.shape.kv_heads;
    in.channels = at.channels;
    in.first_head = at.first_head;
    in.tensors = subject.tensors(term);
    transform->prepare(Exec(), in);
    int const group = std::max(1, at.heads / std::max(1, at.shape.kv_heads));
    int const h = side == Side::query ? head : head / group;
    Matrix out(at.channels + 1, lifted);
    std::vector<double> unit(at.channels, 0.0);
    for (int c = 0; c <= at.channels; ++c) {
      if (c < at.channels) unit[c] = 1;
      transform->forward(side, 0, h, unit.data(), at.channels, out.row(c), lifted);
      if (c < at.channels) unit[c] = 0;
    }
    return out;
  }
};

Action::~Action() = default;
Action::Action(Action&&) noexcept = default;

Action::Action(Subject const& subject, int head)
    : subject_(&subject), head_(head), scale_(1 / std::sqrt(subject.shape().head_dim)), terms_(subject.terms_of(head)) {
  expect(head >= 0 && head < subject.shape().heads, "inspect: there is no head ", head, ", expected 0 to ",
         subject.shape().heads - 1);
  for (std::size_t t : terms_) {
    Term const& term = subject.terms()[t];
    auto const& stages = term.stages;
    int const own = head - term.head_begin;
    if (stages.rows)
      open_ = term.label + " works on whole rows of logits: what lies between query and key decides as well";
    biases_ = biases_ || stages.bias;
    turns_ = turns_ || stages.rotate || stages.transform || subject.position().scales_queries(term);
    if (stages.rotate && !subject.position().kept().empty())
      open_ =
          term.label + " turns the first tokens by other frequencies than later ones: a distance alone decides nothing";
    if (stages.rotate) {
      Turn turn{t, own, subject.frequencies(t), nullptr, stages.branches};
      if (!turn.frequencies.format.exact())
        open_ = term.label + " turns by rounded cos and sin: a distance alone decides nothing";
      std::size_t const size = turn.frequencies.inv_freq.size() / turn.frequencies.rows;
      turn_.push_back(std::move(turn));
      turn_.back().inv_freq = turn_.back().frequencies.inv_freq.data() +
                              (turn_.back().frequencies.rows > 1 ? static_cast<std::size_t>(own) * size : 0);
    }
    if (stages.transform) {
      Map map{t, own, term.encoding->lifted(term.shape), term.encoding->transform_double(term.shape)};
      biases_ = biases_ || map.lifted > term.channels;
      map_.push_back(std::move(map));
    }
  }
  for (auto const& map : map_)
    for (auto const& turn : turn_) {
      Term const &a = subject.terms()[map.term], &b = subject.terms()[turn.term];
      if (a.channel_begin < b.channel_begin + b.channels && b.channel_begin < a.channel_begin + a.channels)
        open_ = a.label + " transforms channels that " + b.label + " turns: their joint action is not inspected";
    }
}

double Action::bias_at(double i, double j) const {
  expect(open_.empty(), open_);
  double sum = 0;
  for (auto const& turn : turn_)
    if (turn.hidden(*subject_->terms()[turn.term].encoding, i, j)) return -std::numeric_limits<double>::infinity();
  for (std::size_t t : terms_) {
    Term const& term = subject_->terms()[t];
    if (!term.stages.bias) continue;
    int const own = head_ - term.head_begin;
    auto const query = subject_->gates(t, own, i), key = subject_->gates(t, own, j);
    double const by = subject_->position().stretch(term);
    sum += term.encoding->bias_at(term.shape, subject_->weights(t, own), subject_->formula_head(term, own), i / by,
                                  j / by, query.data(), key.data());
  }
  for (auto const& map : map_) {  // what a lift adds beside the channels it was given
    if (map.lifted == subject_->terms()[map.term].channels) continue;
    Matrix const q = map.images(*subject_, Side::query, i), k = map.images(*subject_, Side::key, j);
    double product = 0;
    for (int c = 0; c < map.lifted; ++c) product += q(q.rows - 1, c) * k(k.rows - 1, c);
    sum += scale_ * product;
  }
  return sum;
}

Pair Action::at(double i, double j) const {
  Pair out{Matrix::identity(subject_->shape().head_dim), bias_at(i, j)};
  double temperature = 1;
  for (std::size_t t : terms_)
    temperature *= subject_->position().query_scale(subject_->terms()[t], subject_->layer(), i);
  auto const place = [&](int r, int c, double value) { out.content(r, c) = value; };
  for (auto const& turn : turn_) {
    Term const& term = subject_->terms()[turn.term];
    if (turn.hidden(*term.encoding, i, j)) continue;
    double const factor = turn.frequencies.attention_factor * turn.frequencies.attention_factor;
    for (int p = 0; p < turn.pairs(); ++p) {
      double const angle = turn.angle(*subject_, *term.encoding, i, j, p);
      int const x = turn.first(term, p), y = turn.second(term, p);
      place(x, x, factor * std::cos(angle));
      place(x, y, -factor * std::sin(angle));
      place(y, x, factor * std::sin(angle));
      place(y, y, factor * std::cos(angle));
    }
  }
  for (auto const& map : map_) {
    Term const& term = subject_->terms()[map.term];
    Matrix const q = map.images(*subject_, Side::query, i), k = map.images(*subject_, Side::key, j);
    Matrix block(term.channels, term.channels);
    for (int a = 0; a < term.channels; ++a)
      for (int b = 0; b < term.channels; ++b)
        for (int c = 0; c < map.lifted; ++c)
          block(a, b) += (q(a, c) - q(term.channels, c)) * (k(b, c) - k(term.channels, c));
    for (int a = 0; a < term.channels; ++a)
      for (int b = 0; b < term.channels; ++b) place(term.channel_begin + a, term.channel_begin + b, block(a, b));
  }
  for (double& x : out.content.data) x *= temperature;
  return out;
}

double Action::trace_at(double i, double j) const {
  expect(open_.empty(), open_);
  if (!map_.empty()) return trace(at(i, j).content);
  double temperature = 1, sum = subject_->shape().head_dim;
  for (std::size_t t : terms_)
    temperature *= subject_->position().query_scale(subject_->terms()[t], subject_->layer(), i);
  for (auto const& turn : turn_) {
    auto const& e = *subject_->terms()[turn.term].encoding;
    if (turn.hidden(e, i, j)) continue;
    double const factor = turn.frequencies.attention_factor * turn.frequencies.attention_factor;
    for (int p = 0; p < turn.pairs(); ++p) sum += 2 * (factor * std::cos(turn.angle(*subject_, e, i, j, p)) - 1);
  }
  return temperature * sum;
}

}  // namespace sextant::inspect
