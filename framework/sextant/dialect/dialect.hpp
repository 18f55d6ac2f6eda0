// The dialects that a rotary encoding and its scaling are described in: a reader and a writer each, all through Form.
#pragma once
#include <sextant/dialect/form.hpp>

namespace sextant::dialect {

struct Read {
  Form form;
  Remarks remarks;
};
struct Text {
  std::string text;
  Remarks remarks;
};

/// `source` is the name that messages give. Throws Error with place, what was found and what was expected.
using Reader = Read (*)(std::string const& text, std::string const& source, Given const& given,
                        Registry const& registry);
/// Throws Error with the reason where the dialect has no words for the form.
using Writer = Text (*)(Form const& form, Registry const& registry);

struct Dialect {
  char const* name;
  char const* what;
  Reader read;
  Writer write;
};
std::vector<Dialect> const& dialects();
/// Throws Error with the nearest name.
Dialect const& dialect(std::string const& name);

Read read_hf(std::string const&, std::string const&, Given const&, Registry const&);
Read read_hf_old(std::string const&, std::string const&, Given const&, Registry const&);
Read read_vllm(std::string const&, std::string const&, Given const&, Registry const&);
Read read_llamacpp(std::string const&, std::string const&, Given const&, Registry const&);
Read read_gguf(std::string const&, std::string const&, Given const&, Registry const&);
Read read_sextant(std::string const&, std::string const&, Given const&, Registry const&);
Text write_hf(Form const&, Registry const&);
Text write_hf_old(Form const&, Registry const&);
Text write_vllm(Form const&, Registry const&);
Text write_llamacpp(Form const&, Registry const&);
Text write_gguf(Form const&, Registry const&);
Text write_sextant(Form const&, Registry const&);

}  // namespace sextant::dialect
