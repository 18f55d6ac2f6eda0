// The text that a spec's `data` block names, in the tokens that it asks for.
#pragma once
#include <sextant/plan/plan.hpp>
#include <sextant/tasks/token_text.hpp>

#include <optional>

namespace sextant::run {

/// The tokenizer of data.tokens; empty for bytes. Throws Error where there is no such model or it has none.
std::optional<tokens::Tokenizer> tokenizer_of(std::string const& tokens, fs::path const& cache);

tasks::TokenText load_text(spec::Data const& data, fs::path const& cache);

/// What trains and what tests.
tasks::Split split_of(tasks::TokenText const& text, spec::Data const& data);

/// What a plan needs to know of it.
plan::CorpusFacts facts_of(spec::Data const& data, fs::path const& cache);

}  // namespace sextant::run
