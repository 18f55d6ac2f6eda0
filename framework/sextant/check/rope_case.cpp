#include <sextant/base/error.hpp>
#include <sextant/check/rope_case.hpp>
#include <sextant/dialect/rope_block.hpp>

#include <algorithm>

namespace sextant::check {
namespace {
using encoding::Choice;

int head_dim_of(Parameters const& params) {
  int const given = params.whole("head_dim", 0);
  if (given > 0) return given;
  int const width = params.whole("hidden_size", 0), heads = params.whole("num_attention_heads", 0);
  expect(given == 0 && width > 0 && heads > 0, "parameter head_dim is ", given, ", expected a whole number > 0");
  return width / heads;
}

Choice segmented_pairs(Parameters const& params, int rotary_dim, std::string const& layout) {
  auto const pairs = params.list("segment_pairs"), thetas = params.list("segment_thetas");
  expect(!pairs.empty() && pairs.size() == thetas.size(), "segment_pairs has ", pairs.size(),
         " entries and segment_thetas ", thetas.size(), ", expected as many, at least one");
  std::vector<double> start;
  double all = 0;
  for (double n : pairs) start.push_back(all), all += n;
  expect(2 * all == rotary_dim, "segment_pairs sum to ", all, ", expected ", rotary_dim / 2, " (half the rotary dim)");
  return {"segmented_theta",
          {{"axis", std::string("dims")},
           {"exponent", params.word("segment_exponent", "global")},
           {"rotary_dim", double(rotary_dim)},
           {"layout", layout},
           {"seg_start", start},
           {"seg_base", thetas}},
          {}};
}
}  // namespace

std::optional<RopeCase> rope_case(std::string const& method, Parameters const& params, std::string const& layout,
                                  encoding::Registry const& registry) {
  auto const& tongue = dialect::reference_cases();
  bool const known = method == "default" || method == "proportional" || method == "segmented_theta" ||
                     std::any_of(tongue.methods.begin(), tongue.methods.end(),
                                 [&](dialect::Method const& one) { return method == one.type; });
  if (!known) return std::nullopt;
  RopeCase out;
  out.head_dim = head_dim_of(params);
  out.length = params.number("seq_len", 0);
  if (method == "segmented_theta") {
    double const share = params.number("partial_rotary_factor", 1);
    out.choice.encodings = {segmented_pairs(params, static_cast<int>(out.head_dim * share), layout)};
    params.allow({"rope_type", "type", "rope_theta", "max_position_embeddings"});
    params.expect_all_known();
    return out;
  }
  if (bool const scales = method != "default" && method != "proportional";
      scales && !registry.has(encoding::Role::scaling, method)) {
    out.choice.scalings = {{method, {}, {}}};
    return out;
  }
  nlohmann::json block = params.values();
  for (char const* beside :
       {"head_dim", "hidden_size", "num_attention_heads", "seq_len", "max_position_embeddings", "type"})
    block.erase(beside);
  block["rope_type"] = method;
  auto const node = dialect::parse_json(block.dump(), "params");
  dialect::Remarks told;
  dialect::Surroundings const around{.head_width = out.head_dim,
                                     .most = params.whole("max_position_embeddings", 0),
                                     .otherwise = 10000,
                                     .as_transformers = true};
  auto read = dialect::read_rope_block({node, ""}, tongue, around, registry, told);
  read.kind.encoding.options["layout"] = layout;
  out.choice = {{read.kind.encoding}, read.kind.scalings, read.trained_length};
  return out;
}

std::string absent_plugin(encoding::PositionChoice const& choice, encoding::Registry const& registry) {
  for (auto const& encoding : choice.encodings) {
    if (!registry.has(encoding::Role::encoding, encoding.use)) return encoding.use;
    if (auto const inner = absent_plugin({encoding.parts, {}, 0}, registry); !inner.empty()) return inner;
  }
  for (auto const& scaling : choice.scalings)
    if (!registry.has(encoding::Role::scaling, scaling.use)) return scaling.use;
  return "";
}

}  // namespace sextant::check
