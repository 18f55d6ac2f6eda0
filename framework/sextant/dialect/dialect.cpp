#include <sextant/base/error.hpp>
#include <sextant/dialect/dialect.hpp>

namespace sextant::dialect {

std::vector<Dialect> const& dialects() {
  static std::vector<Dialect> const all = {
      {"hf", "config.json of transformers 5: rope_parameters; reads the older form too", read_hf, write_hf},
      {"hf-old", "config.json of transformers 4: rope_theta and rope_scaling", read_hf_old, write_hf_old},
      {"llamacpp", "flags of llama.cpp's programs", read_llamacpp, write_llamacpp},
      {"gguf", "metadata keys of a GGUF file, as key = value lines or JSON", read_gguf, write_gguf},
      {"vllm", "the JSON of vLLM's --hf-overrides, or of its older --rope-scaling", read_vllm, write_vllm},
      {"sextant", "the position block of a spec", read_sextant, write_sextant}};
  return all;
}

Dialect const& dialect(std::string const& name) {
  std::vector<std::string> names;
  for (auto const& one : dialects()) {
    if (name == one.name) return one;
    names.push_back(one.name);
  }
  fail("there is no dialect ", name, did_you_mean(name, names),
       nearest(name, names).empty() ? "" : " (known: " + join(names) + ")");
}

}  // namespace sextant::dialect
