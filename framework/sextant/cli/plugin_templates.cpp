#include <sextant/cli/plugin_templates.hpp>

#include <cctype>

namespace sextant::cli {
namespace {

constexpr std::string_view bias_source =
    R"src(// @NAME@: a penalty linear in distance with one trained slope per head. Replace formula, options and source by yours.
//
//   logit(h, i, j) += -slope_h |p_i - p_j|          p in tokens, slope in logits per token
//
// Source: the paper and equation that you follow.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct @STRUCT@ {
  double slope = 0.05;  // members are options; their initial values are the defaults
  bool train = true;

  static constexpr char const* summary = "a penalty linear in distance, its slope trained per head";
  static constexpr char const* formula = "logit(i, j) += -slope_h |p_i - p_j|";
  static constexpr bool relative = true;  // a law that `plugin check` tests: only p_i - p_j matters

  static auto schema() {
    return Schema<@STRUCT@>{}
        .option("slope", &@STRUCT@::slope, "penalty per token of distance at the start", positive, Unit{"logits/token"})
        .option("train", &@STRUCT@::train, "let the optimiser move the slopes");
  }

  // What one head reads, members of type T only. What must stay positive is trained as its logarithm.
  template <class T>
  struct Weights {
    T log_slope;
  };
  static constexpr char const* weight_name = "log_slope";
  bool trains() const { return train; }
  Weights<double> init(int head, int heads) const { return {std::log(slope) - 4.0 * head / heads}; }

  // Written once: with double it is the definition, with float the kernel, with Dual its own derivative.
  template <class T>
  KOKKOS_FUNCTION T bias(Weights<T> const& w, Site<T> const& at) const {
    return -math::exp(w.log_slope) * T(at.distance());
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::@STRUCT@, "@NAME@", "your paper")
)src";

constexpr std::string_view rotary_source =
    R"src(// @NAME@: pairs of channels turn with the position, on a geometric ladder of frequencies. Replace formula, options and
// source by yours.
//
//   pair f of position p turns by p base^(-2f / head_dim)          radians
//
// Source: the paper and equation that you follow.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct @STRUCT@ {
  double base = 10000;  // members are options; their initial values are the defaults

  static constexpr char const* summary = "pairs turn on a geometric ladder of frequencies";
  static constexpr char const* formula = "pair f turns by p base^(-2f/D)";
  // Laws that `plugin check` tests: only distances matter, norms are kept, turns add up.
  static constexpr bool relative = true, orthogonal = true, group = true;

  static auto schema() {
    return Schema<@STRUCT@>{}.option("base", &@STRUCT@::base, "the slowest pair turns nearly base times slower than the fastest",
                                  above(1));
  }

  Rotary rotary(Shape const& shape) const { return {.rotary_dim = shape.head_dim, .layout = Layout::half}; }

  /// Radians per token of a pair, formed in double.
  template <class T>
  T inv_freq(NoWeights<T> const&, int pair, Rotary const& form) const {
    return T(std::pow(base, -2.0 * pair / form.rotary_dim));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::@STRUCT@, "@NAME@", "your paper")
)src";

constexpr std::string_view scaling_source =
    R"src(// @NAME@: every frequency of a trained rotary encoding divided by one factor. Replace formula, options and source by yours.
//
//   inv_freq_f / factor
//
// Source: the paper and equation that you follow.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct @STRUCT@ {
  std::optional<double> factor;  // auto: evaluated length / trained length

  static constexpr char const* summary = "every frequency divided by the factor";
  static constexpr char const* formula = "inv_freq / factor";
  static constexpr bool identity_at_factor_one = true;  // a law that `plugin check` tests

  static std::vector<Example> examples() { return {{{{"factor", 4.0}}, {}}}; }  // values that checks try

  static auto schema() {
    return Schema<@STRUCT@>{}.option("factor", &@STRUCT@::factor, "target length / trained length", at_least(1),
                                  MayBeAuto{"evaluated length / trained length, at least 1"}, required);
  }
  void check(ScalingContext const& at) const {
    expect(factor || at.trained_length > 0, "@NAME@.factor is auto, and the trained length it follows from is not known");
  }

  /// `plain`: the frequency as trained, radians per token; T is double, or Dual where frequencies are trained.
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    return plain / T(factor.value_or(at.needed_factor()));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::@STRUCT@, "@NAME@", "your paper")
)src";

constexpr std::string_view cmake = R"src(cmake_minimum_required(VERSION 3.25)
project(@NAME@ LANGUAGES CXX)
find_package(Sextant REQUIRED)  # -DSextant_ROOT=PREFIX where it is not found
sextant_add_plugin(@NAME@)
)src";

constexpr std::string_view check = R"src(#!/bin/sh
# Builds the plugin, holds it to its claims and runs its study for a few steps. Arguments go to cmake: -DSextant_ROOT=PREFIX.
set -eu
cd "$(dirname "$0")"
cmake -B build -DCMAKE_BUILD_TYPE=Release "$@"
cmake --build build
prefix=$(sed -n 's|^Sextant_DIR:PATH=\(.*\)/lib.*/cmake/Sextant$|\1|p' build/CMakeCache.txt)
PATH="$prefix/bin:$PATH"
SEXTANT_PLUGIN_PATH=$PWD/build/plugins
export PATH SEXTANT_PLUGIN_PATH
sextant plugin check build/plugins/@NAME@.so
sextant validate spec.yaml > /dev/null
)src";

// What both studies train, and how they look at it.
constexpr std::string_view setting = R"src(model: {layers: 4, width: 128, heads: 4, mlp: {kind: swiglu, width: 384}}
position: {encoding: rope}
data: {corpus: kjv, tokens: bytes}
train:
  steps: 600
  length: 256
  batch: 2048 tokens
  optimiser: {use: adamw, rate: 2e-3}
  schedule: {use: cosine, warmup: 50 steps}
  seeds: [11, 23, 47]
evaluate:
  - {use: lm_loss, lengths: [256, 512, 1024], windows: 32, keep: [mean, tail64]}
  - {use: lm_loss, name: window_control, lengths: [512, 1024], windows: 32, context: 256, keep: [tail64]}
)src";

constexpr std::string_view tiers = R"src(tiers:
  smoke: {train.steps: 5, train.schedule.warmup: 1, train.seeds: [11], evaluate.lm_loss.windows: 2, evaluate.window_control.windows: 2}
report: {baseline: rope}
)src";

constexpr std::string_view encoding_spec = R"src(sextant: 1
study: @NAME@
title: "@NAME@ beside RoPE, ALiBi and no encoding"
question: Does @NAME@ learn as fast, and does it hold past the trained length?

@SETTING@vary:
  - {key: position.encoding, stage: train, values: [rope, @NAME@, alibi, nope]}
claims:
  list:
    - id: not-worse-at-home
      says: "@NAME@ is not worse than RoPE at the trained length"
      test: lm_loss.mean @ 256 {encoding=@NAME@} <= lm_loss.mean @ 256 {encoding=rope}
      margin: 0.02 nat
    - id: reaches-further
      says: "@NAME@ is better than RoPE at four times the trained length"
      test: lm_loss.tail64 @ 1024 {encoding=@NAME@} < lm_loss.tail64 @ 1024 {encoding=rope}
@TIERS@)src";

constexpr std::string_view scaling_spec = R"src(sextant: 1
study: @NAME@
title: "@NAME@ beside other ways to stretch RoPE"
question: Does @NAME@ hold past the trained length without tuning, and what does it cost within it?

@SETTING@vary:
  - key: position.scaling
    stage: evaluate
    where: {evaluate: lm_loss}
    values: [none, {use: @NAME@, factor: auto, label: @NAME@}, {use: ntk, factor: auto, label: ntk}, {use: yarn, factor: auto, label: yarn}]
claims:
  list:
    - id: better-than-nothing
      says: "@NAME@ is better than no scaling at four times the trained length"
      test: lm_loss.tail64 @ 1024 {scaling=@NAME@} < lm_loss.tail64 @ 1024 {scaling=none}
    - id: as-good-as-yarn
      says: "@NAME@ is not worse than YaRN there"
      test: lm_loss.tail64 @ 1024 {scaling=@NAME@} <= lm_loss.tail64 @ 1024 {scaling=yarn}
      margin: 0.02 nat
@TIERS@)src";

constexpr std::string_view readme = R"src(# @NAME@

A plugin for Sextant. `@NAME@.cpp` holds the formula; everything else follows from it.

    ./check.sh -DSextant_ROOT=PREFIX        # builds, then tries gradients, laws, masks, caches and odd shapes
    export SEXTANT_PLUGIN_PATH=$PWD/build/plugins
    sextant describe @NAME@
    sextant inspect @INSPECT@ --length 4096     # what it does before any training
    sextant run spec.yaml                   # beside others, with claims and verdicts
)src";

std::string struct_name(std::string const& name) {
  std::string out;
  bool upper = true;
  for (char const c : name) {
    if (c == '_')
      upper = true;
    else
      out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c, upper = false;
  }
  return out;
}

void replace_all(std::string& text, std::string_view what, std::string const& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
}

}  // namespace

std::vector<PluginKind> const& plugin_kinds() {
  static std::vector<PluginKind> const kinds{
      {"bias", "an encoding that adds to the logit", bias_source, encoding_spec, "@NAME@"},
      {"rotary", "an encoding that turns query and key", rotary_source, encoding_spec, "@NAME@"},
      {"scaling", "what stretches a trained rotary encoding", scaling_source, scaling_spec,
       "rope '{use: @NAME@, factor: 4}'"}};
  return kinds;
}

std::map<std::string, std::string> plugin_project(std::string const& name, PluginKind const& kind) {
  std::map<std::string, std::string> files{
      {name + ".cpp", std::string(kind.source)}, {"CMakeLists.txt", std::string(cmake)},
      {"check.sh", std::string(check)},          {"spec.yaml", std::string(kind.spec)},
      {"README.md", std::string(readme)},        {".gitignore", "build/\nresults/\n"}};
  for (auto& [file, text] : files) {
    replace_all(text, "@SETTING@", std::string(setting));
    replace_all(text, "@TIERS@", std::string(tiers));
    replace_all(text, "@INSPECT@", std::string(kind.inspect));
    replace_all(text, "@NAME@", name);
    replace_all(text, "@STRUCT@", struct_name(name));
  }
  return files;
}

}  // namespace sextant::cli
