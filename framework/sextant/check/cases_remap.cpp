// Methods that meet near and far keys at different angles, and those that hide what lies between.
#include <sextant/check/cases.hpp>

namespace sextant::check {
namespace {
using encoding::Choice;
using encoding::Encoding;

/// The distance that each visible pair counts as: the angle's query position less its key position.
void distances(CaseProbe const& probe, Quantities& out) {
  if (!probe.group.has_array("out/rho")) return;
  Encoding const& method = *probe.position.terms().front().encoding;
  auto const mask = probe.group.numbers("in/mask");
  auto const& shape = probe.group.array("out/rho").shape;
  auto& rho = out["out/rho"];
  std::size_t const n = probe.length, rows = shape.size() == 3 ? shape[0] * n : n;
  auto const position = [&](std::size_t row, std::size_t at) {
    return probe.positions[(row / n * n + at) % probe.positions.size()];
  };
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t j = 0; j < n; ++j) {
      double const query = position(row, row % n), key = position(row, j);
      int const branch = method.branch(query, key);
      bool const shown = mask[row % n * n + j] != 0 && branch != kernels::BranchRule::hidden;
      rho.push_back(shown ? method.query_phase(branch, query) - method.key_phase(method.key_set(branch), key) : 0);
    }
}

/// rope's options and `more`, under another name.
EncodingCase turned(char const* use, Parameters const& from, encoding::Options more) {
  Choice choice = rope_choice(from);
  choice.use = use;
  choice.options.merge(more);
  EncodingCase out = alone(std::move(choice));
  out.own = distances;
  return out;
}
}  // namespace

std::optional<EncodingCase> remap_case(CaseInput const& in) {
  auto const& from = in.from;
  auto const count = [&](char const* name, int fallback) { return count_option(from, name, fallback); };
  if (in.method == "rerope")
    return turned("rerope", from, {{"window", count("window", 512)}, {"leak", from.number("leak", 0)}});
  if (in.method == "self_extend")
    return turned("self_extend", from, {{"group", count("group", 8)}, {"window", count("window", 1024)}});
  if (in.method == "dual_chunk")
    return turned("dual_chunk", from,
                  {{"chunk", count("chunk", 1024)},
                   {"local", count("local", 128)},
                   {"cap_mode", from.word("cap_mode", "paper")}});
  if (in.method == "streaming_sinks")
    return turned("streaming_sinks", from,
                  {{"sinks", count("sinks", 4)},
                   {"window", count("window", 512)},
                   {"rope_positions", from.word("rope_positions", "cache")}});
  if (in.method == "lm_infinite") {
    int const window = from.whole("window", 512);
    return turned("lm_infinite", from,
                  {{"sinks", count("sinks", 4)}, {"window", count("window", 512)}, {"limit", count("limit", window)}});
  }
  if (in.method == "local_rope_global_alibi")
    return turned("local_rope_global_alibi", from,
                  {{"window", count("window", 512)},
                   {"beyond", from.word("beyond", "saturate")},
                   {"bias_from", from.word("bias_from", "window")}});
  return std::nullopt;
}

}  // namespace sextant::check
