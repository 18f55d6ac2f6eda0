#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/dialect/ladder.hpp>
#include <sextant/doctor/model_file.hpp>
#include <sextant/pretrained/rope.hpp>

#include <algorithm>

namespace sextant::doctor {
namespace {
std::optional<double> as_number(pretrained::GgufValue const& value) {
  if (auto const* u = std::get_if<std::uint64_t>(&value.value)) return static_cast<double>(*u);
  if (auto const* i = std::get_if<std::int64_t>(&value.value)) return static_cast<double>(*i);
  auto const* x = std::get_if<double>(&value.value);
  return x ? std::optional(*x) : std::nullopt;
}

Finding mismatch(ModelFile const& model, std::string const& what, std::string evidence) {
  Finding out{.check = "mismatch", .place = model.file + ": " + what, .patient = ""};
  out.evidence = std::move(evidence);
  out.why = "the program that loads it turns other channels, or by other frequencies, than those that were trained";
  out.remedy = "convert the model again from its source, or correct the key";
  return out;
}

std::optional<double> number(ModelFile const& model, char const* key) {
  auto const found = model.numbers.find(key);
  return found == model.numbers.end() ? std::nullopt : std::optional(found->second);
}

void check_shapes(std::vector<Finding>& out, ModelFile const& model) {
  auto const width = number(model, "embedding_length"), heads = number(model, "attention.head_count"),
             kv = number(model, "attention.head_count_kv");
  double const head = model.form.head_width;
  for (auto const& [name, rows] : {std::pair{"blk.0.attn_q.weight", heads}, {"blk.0.attn_k.weight", kv ? kv : heads}}) {
    auto const found = model.tensors.find(name);
    if (found == model.tensors.end() || !rows || !width || head == 0) continue;
    std::vector<std::size_t> const expected = {static_cast<std::size_t>(*rows * head),
                                               static_cast<std::size_t>(*width)};
    if (found->second.shape != expected)
      out.push_back(mismatch(model, name,
                             text(name, " is ", found->second.shape, ", and the keys say ", *rows, " heads of ", head,
                                  " channels and a width of ", *width, ": ", expected)));
  }
}

void check_numbers(std::vector<Finding>& out, ModelFile const& model) {
  for (char const* name : {"rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight",
                           "position_embd.weight", "blk.0.attn_rel_b.weight"}) {
    auto const found = model.tensors.find(name);
    if (found == model.tensors.end() || found->second.format == "F32") continue;
    bool const fine = found->second.format == "F16" && std::string_view(name) == "position_embd.weight";
    if (fine) continue;
    Finding finding{.check = "table-numbers", .place = model.file + ": " + name, .patient = ""};
    finding.evidence = text("the positional table ", name, " is stored as ", found->second.format, ", expected F32");
    finding.why = "an error of a table is the same phase error at every layer, and grows with the position";
    finding.remedy = "keep positional tables out of the quantisation: they are a few kilobytes";
    out.push_back(std::move(finding));
  }
}

void check_config(std::vector<Finding>& out, ModelFile const& model, std::string const& config,
                  encoding::Registry const& registry) {
  dialect::Given given;
  given.head_width = model.form.head_width;
  auto const other = dialect::canonical(dialect::read_hf(read_file(config), config, given, registry).form, registry);
  if (other.head_width != model.form.head_width)
    out.push_back(mismatch(
        model, "head width",
        text("the file has heads of ", model.form.head_width, " channels, ", config, " of ", other.head_width)));
  if (other.kinds.size() != model.form.kinds.size() || other.head_width != model.form.head_width) return;
  for (std::size_t k = 0; k < other.kinds.size(); ++k)
    for (double const length : dialect::lengths_of(other)) {
      auto const theirs = dialect::ladder(other.kinds[k], other, registry, length);
      auto const ours = dialect::ladder(model.form.kinds[k], model.form, registry, length);
      double const apart = dialect::largest_difference(ours, theirs);
      if (apart < 1e-5) continue;  // keys are float32
      out.push_back(mismatch(model, "rotation",
                             text("in rows of ", length,
                                  " tokens the file turns by other frequencies or "
                                  "magnitudes than ",
                                  config, " says: a relative ", apart)));
      break;
    }
}
}  // namespace

ModelFile read_model(fs::path const& path, dialect::Given const& given, encoding::Registry const& registry) {
  pretrained::Gguf const file(path);
  ModelFile out{.file = path.string()};
  auto read = dialect::read_gguf(pretrained::rope_text(file), path.string(), given, registry);
  out.form = dialect::canonical(std::move(read.form), registry);
  out.remarks = std::move(read.remarks);
  for (auto const& [name, tensor] : file.tensors())
    out.tensors[name] = {tensor.shape, pretrained::info(tensor.format).name};
  std::string const front = out.form.architecture + ".";
  for (auto const& [key, value] : file.metadata())
    if (auto const x = as_number(value); x && key.starts_with(front)) out.numbers[key.substr(front.size())] = *x;
  return out;
}

std::vector<Finding> check_model(ModelFile const& model, std::string const& config,
                                 encoding::Registry const& registry) {
  std::vector<Finding> out;
  check_shapes(out, model);
  check_numbers(out, model);
  if (!config.empty()) check_config(out, model, config, registry);
  return out;
}

}  // namespace sextant::doctor
