#include <sextant/base/error.hpp>
#include <sextant/encoding/position.hpp>

#include <algorithm>

namespace sextant::encoding {

namespace {
// A term that sees itself among all heads owns the rows of its own heads only.
std::vector<ParameterInfo> parameters_of(Term const& term) {
  Shape all = term.shape;
  all.heads = term.first_head.count;
  auto out = term.encoding->parameters(all);
  for (auto& info : out) {
    if (!info.per_head) continue;
    std::size_t const row = info.size() / info.shape[0], first = row * static_cast<std::size_t>(term.first_head.index);
    info.shape[0] = static_cast<std::size_t>(term.heads);
    info.init = [whole = std::move(info.init), first](Stream const& s, std::size_t i) { return whole(s, first + i); };
  }
  return out;
}
}  // namespace

Position::Position(PositionChoice const& choice, Registry const& registry, Shape const& shape, double target_length)
    : choice_(choice), shape_(shape), target_length_(target_length > 0 ? target_length : choice.trained_length) {
  expect(shape.heads > 0 && shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0, "position: heads ", shape.heads,
         " is not a multiple of kv_heads ", shape.kv_heads);
  expect(!choice.encodings.empty(), "position: no encoding; nope is the name for none");
  shape_.trained_length = choice.trained_length;
  if (shape_.value_dim == 0) shape_.value_dim = shape.head_dim;
  Term whole;
  whole.heads = shape.heads;
  whole.channels = shape.head_dim;
  whole.first_head = {0, shape.heads};
  for (auto const& part : choice_.encodings) add(part, registry, shape_, whole);
  check_overlaps();
  for (auto const& scaling : choice.scalings) scalings_.push_back(registry.make_scaling(scaling));
  for (std::size_t t = 0; t < terms_.size(); ++t)
    for (auto& info : parameters_of(terms_[t]))
      parameters_.push_back({"position." + terms_[t].label + "." + info.name, static_cast<int>(t), std::move(info)});
  check_scalings();
}

void Position::check_scalings() {
  std::vector<bool> used(scalings_.size());
  for (Term const& term : terms_) {
    Stages const& has = term.stages;
    std::size_t n = 0;
    for_scalings(term, 0, [&](Scaling const& scaling, ScalingContext const& at) {
      ScalingStages const does = scaling.stages();
      bool const turned = does.turns() && has.rotate, biased = does.biases && (has.bias || has.rows);
      used[n] = used[n] || turned || biased;
      ++n;
      if (!turned && !biased) return;
      try {
        expect(!biased || has.stretches, "its bias does not offer a stretch of distances");
        expect(!does.rounds || !term.encoding->trains(term.shape),
               "its frequencies are trained, and a rounded table has no derivative by them");
        if (turned && does.phases) {
          Rotary const form = term.encoding->rotary(term.shape);
          expect(form.phase_gate < 0 && form.axes == 1, "what turns it is ",
                 form.phase_gate < 0 ? "several coordinates" : "a gate", ", not a position");
        }
        scaling.check(at);
      } catch (Error const& error) {
        fail(scaling.description().name, " cannot scale ", term.label, ": ", error.what());
      }
    });
  }
  for (std::size_t n = 0; n < scalings_.size(); ++n) {
    ScalingStages const does = scalings_[n]->stages();
    follows_length_ = follows_length_ || does.follows_length;
    bends_phases_ = bends_phases_ || does.phases;
    scales_queries_ = scales_queries_ || does.queries;
    expect(!does.rounds || !rounds_, scalings_[n]->description().name,
           ": cos and sin are rounded already: expected it once");
    rounds_ = rounds_ || does.rounds;
    if (does.kept > 0) kept_.push_back(does.kept);
    expect(used[n], scalings_[n]->description().name,
           does.turns() ? " scales rotary frequencies, and " : " stretches biases, and ", terms_.front().label,
           terms_.size() > 1 ? " with its companions has none" : " has none", "; expected ",
           does.turns() ? "a rotary encoding" : "an encoding with a bias", ", or no scaling");
  }
  std::sort(kept_.begin(), kept_.end());
  kept_.erase(std::unique(kept_.begin(), kept_.end()), kept_.end());
}

void Position::add(Choice const& choice, Registry const& registry, Shape const& shape, Term place) {
  auto encoding = registry.make_encoding(choice);
  place.encoding = encoding;
  place.shape = shape;
  if (choice.layers) {
    expect(!place.layers, choice.use, ": layers are set for the whole that it is a part of");
    place.layers = choice.layers;
  }
  if (encoding->description().takes_parts) {
    std::vector<Choice> const& parts = encoding->choice().parts;
    if (auto const sampler = encoding->sampler()) {
      expect(!sampler_, choice.use, ": the positions are drawn already: expected it once, around all that it is for");
      expect(choice_.encodings.size() == 1 && &choice == &choice_.encodings.front(), choice.use,
             " draws the positions of the whole model: expected it alone, around all other encodings");
      sampler_ = sampler;
    }
    auto const regions = encoding->regions(shape, static_cast<int>(parts.size()));
    int const group = shape_.heads / shape_.kv_heads;
    for (std::size_t n = 0; n < parts.size(); ++n) {
      auto const& region = regions[n];
      if (region.heads == 0 || region.channels == 0) {
        // An empty slice leaves a part that only biases in place (its slice of the product is plain): d1 = D.
        auto const part = registry.make_encoding(parts[n]);
        if (region.heads == 0 || part->description().takes_parts || part->stages(shape).rotate) continue;
      }
      expect(region.head_begin % group == 0 && region.heads % group == 0, choice.use, ": part ", n + 1, " (",
             parts[n].use, ") gets query heads ", region.head_begin, " to ", region.head_begin + region.heads,
             ", which share key heads with another part (", group, " query heads a key head)");
      Term inner = place;
      inner.head_begin += region.head_begin;
      inner.heads = region.heads;
      inner.channel_begin += region.channel_begin;
      inner.channels = region.channels;
      inner.first_head = region.formula_sees_all_heads ? Head{region.head_begin, shape.heads} : Head{0, region.heads};
      Shape seen = shape;
      seen.heads = region.heads;
      seen.kv_heads = region.heads / group;
      seen.head_dim = region.channels;
      add(parts[n], registry, seen, inner);
    }
    return;
  }
  encoding->check(shape);
  place.stages = encoding->stages(shape);
  expect(!place.layers || !place.stages.embed, choice.use,
         " adds to the embedding, before the first layer, and cannot be limited to layers; expected none");
  expect(!place.stages.rows || place.channels == shape_.head_dim, choice.use,
         " works on whole rows of logits, and channels ", place.channel_begin, " to ",
         place.channel_begin + place.channels, " of a head have none of their own: give it heads instead");
  int same = 1;
  for (auto const& term : terms_) same += term.encoding->description().name == choice.use;
  place.label = same == 1 ? choice.use : text(choice.use, "_", same);
  terms_.push_back(std::move(place));
}

namespace {
/// What maps query and key: at most one such term may have a channel, in any layer.
bool turns(Term const& term) {
  auto const& stages = term.stages;
  return stages.rotate || stages.transform;
}
bool branches(Term const& term) { return term.stages.branches > 0; }
bool share_a_layer(Term const& a, Term const& b) {
  constexpr int deepest = 1024;
  for (int layer = 0; layer < deepest; ++layer)
    if (a.acts_in(layer) && b.acts_in(layer)) return true;
  return false;
}
/// Whether a term forms logits by a product of its own.
bool multiplies(Term const& term) { return term.stages.multiplies; }
bool reads_plain(Term const& term) { return term.stages.reads_plain; }
bool lifts(Term const& term) { return term.stages.transform && term.encoding->lifted(term.shape) > term.channels; }
bool works_on_rows(Term const& term) { return term.stages.rows; }
bool share_a_head(Term const& a, Term const& b) {
  return a.head_begin < b.head_begin + b.heads && b.head_begin < a.head_begin + a.heads;
}
}  // namespace

void Position::check_overlaps() const {
  auto const meet = [](int a, int an, int b, int bn) { return a < b + bn && b < a + an; };
  for (std::size_t i = 0; i < terms_.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      Term const &a = terms_[j], &b = terms_[i];
      if (!share_a_layer(a, b)) continue;
      for (auto const& [one, other] : {std::pair{&a, &b}, std::pair{&b, &a}})
        expect(!lifts(*one) || !works_on_rows(*other) || multiplies(*other), one->label, " makes ",
               one->encoding->lifted(one->shape), " channels of ", one->channels, " in every head's arrays, and ",
               other->label, " works on rows of query and key as wide as the model has them: expected one of the two");
      if (!share_a_head(a, b)) continue;
      expect(!turns(a) || !turns(b) || !meet(a.channel_begin, a.channels, b.channel_begin, b.channels), a.label,
             " and ", b.label, " would both turn the same channels: sum at most one rotary encoding, or split ",
             "the head with direct_sum");
      expect(!branches(a) || !branches(b), a.label, " and ", b.label,
             " would each choose an angle for every pair of the same heads: give them different heads");
      for (auto const& [one, other] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
        expect(!reads_plain(*one) || !turns(*other), one->label,
               " compares query and key with what depends on their distance alone, and ", other->label,
               " turns them by their own positions first: their logits would depend on more than the distance; give ",
               "them different heads or layers");
        expect(!multiplies(*one) || !lifts(*other), one->label, " multiplies query and key in its own way, and ",
               other->label, " makes more channels of them: give them different heads");
        expect(!multiplies(*one) || !(branches(*other) || (one == &a && multiplies(*other))), one->label,
               " multiplies "
               "query and key in its own way, and ",
               other->label, branches(*other) ? " chooses an angle for every pair" : " does too",
               ": give them different heads");
      }
    }
}

ScalingContext Position::context(Term const& term) const {
  ScalingContext at{.trained_length = static_cast<double>(choice_.trained_length),
                    .target_length = target_length_,
                    .head_dim = term.shape.head_dim};
  if (!term.stages.rotate) return at;
  Rotary const form = term.encoding->rotary(term.shape);
  at.rotary_dim = form.rotary_dim;
  at.base = form.base;
  return at;
}

template <class F>
void Position::for_scalings(Term const& term, double length, F&& f, double position) const {
  if (scalings_.empty()) return;
  ScalingContext at = context(term);
  at.length = length;
  for (auto const& scaling : scalings_) {
    if (position < scaling->stages().kept) continue;
    f(*scaling, at);
    if (!at.base) continue;
    auto const next = scaling->ladder({*at.base, at.first}, at);
    at.base = next ? std::optional(next->base) : std::nullopt;
    at.first = next ? next->first : 1;
  }
}

double Position::scaled_phase(Term const& term, double plain) const {
  for_scalings(term, 0, [&](Scaling const& scaling, ScalingContext const& at) { plain = scaling.phase(plain, at); });
  return plain;
}

bool Position::scales_queries(Term const& term) const {
  auto const& stages = term.stages;
  return stages.scale_query || (scales_queries_ && stages.rotate);
}

double Position::query_scale(Term const& term, int layer, double position) const {
  auto const& stages = term.stages;
  double by = stages.scale_query ? term.encoding->query_scale(position) : 1;
  if (scales_queries_ && stages.rotate)
    for_scalings(term, 0, [&](Scaling const& scaling, ScalingContext const& at) {
      by *= scaling.query_scale(position, layer, at);
    });
  return by;
}

double Position::stretch(Term const& term) const {
  double by = 1;
  if (term.stages.stretches)
    for_scalings(term, 0, [&](Scaling const& scaling, ScalingContext const& at) { by *= scaling.stretch(at); });
  return by;
}

Position::Frequencies Position::frequencies(Term const& term, std::vector<double> const& weights,
                                            std::vector<double>* slope, double length, double position) const {
  Frequencies out{.form = term.encoding->rotary(term.shape)};
  out.rows = out.form.per_head ? term.shape.heads : 1;
  int const pairs = out.form.rotary_dim / 2;
  out.inv_freq.resize(static_cast<std::size_t>(out.rows) * out.form.axes * pairs);
  term.encoding->inv_freq(term.shape, weights.data(), out.inv_freq.data());
  if (slope) slope->assign(out.inv_freq.size(), 1.0);
  auto const scale = [&](Scaling const& scaling, ScalingContext at) {
    if (!scaling.stages().frequencies) return;
    out.attention_factor *= scaling.attention_factor(at);
    if (scaling.stages().rounds) out.format = scaling.table_format();
    for (std::size_t n = 0; n < out.inv_freq.size(); ++n) {
      if (out.inv_freq[n] == 0) continue;  // a pair that stands still along this axis stays so
      at.pair = static_cast<int>(n % pairs);
      double derivative = 1;
      out.inv_freq[n] = scaling.inv_freq(out.inv_freq[n], at, slope ? &derivative : nullptr);
      if (slope) (*slope)[n] *= derivative;
    }
  };
  for_scalings(term, length, scale, position);
  return out;
}

std::vector<double> Position::initial_weights(Term const& term) const {
  // Untrained weights hold no randomness; trained ones are drawn by the model from its own seed.
  Shape shape = term.shape;
  shape.heads = term.first_head.count;
  std::vector<double> all = term.encoding->initial_weights(shape, Stream(0, "untrained"));
  if (term.encoding->weights_shared_by_heads() || all.empty()) return all;
  std::size_t const count = all.size() / shape.heads;
  return {all.begin() + static_cast<std::ptrdiff_t>(term.first_head.index * count),
          all.begin() + static_cast<std::ptrdiff_t>((term.first_head.index + term.heads) * count)};
}

}  // namespace sextant::encoding
