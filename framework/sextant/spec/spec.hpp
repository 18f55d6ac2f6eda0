// An experiment spec as the rest of Sextant sees it: plain structs with every value checked and settled.
#pragma once
#include <sextant/claims/claim.hpp>
#include <sextant/claims/published.hpp>
#include <sextant/encoding/choice.hpp>
#include <sextant/spec/catalogue.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sextant::spec {

enum class Family { decoder };
enum class MlpKind { swiglu, gelu, geglu };
enum class NormKind { rmsnorm, layernorm };
/// by_depth: the projections that write to the residual stream start at std / sqrt(2 layers).
enum class Residual { by_depth, none };

struct Model {
  std::string from;              ///< a pretrained model that the weights come from; empty: they are drawn
  std::string sha256;            ///< of its file
  std::string tokenizer_sha256;  ///< of its tokenizer; empty where it has none
  Family family = Family::decoder;
  int layers = 0, width = 0, heads = 0;
  int kv_heads = 0;      ///< divides heads
  int head_width = 0;    ///< channels of a head; heads * head_width may differ from width
  int vocabulary = 256;  ///< settled from data.tokens, or the pretrained model's
  struct {
    MlpKind kind = MlpKind::swiglu;
    int width = 0;
  } mlp;
  struct {
    NormKind kind = NormKind::rmsnorm;
    double eps = 1e-5;
  } norm;
  bool qk_norm = false;
  bool kv_shift = false;
  bool qkv_bias = false;
  bool tie_embedding = true;
  double embedding_scale = 1;
  struct {
    double std = 0.02;
    Residual residual = Residual::by_depth;
  } init;
};

enum class Cut { contiguous, documents };

struct Data {
  std::string corpus;  ///< a name that `sextant list corpora` knows, or the path of a file; empty: there is a task
  std::vector<encoding::Choice> task;  ///< one: its examples in place of a text, or none
  std::string tokens = "bytes";        ///< or the model, file or folder whose tokenizer makes them
  struct {
    double train = 0.94, test = 0.06;  ///< shares of the corpus
    Cut cut = Cut::contiguous;         ///< train is its beginning and test its end, or both are whole documents
  } split;
  struct {
    std::optional<std::int64_t> seed;  ///< of the order of the batches; empty: every run's own seed
  } order;
};

enum class Optimiser { adamw };
enum class ScheduleKind { cosine };
enum class Precision { fp32, bf16 };

/// Optimiser steps, and what each of them reads.
struct Steps {
  int steps = 0;
  int length = 0;  ///< tokens a row
  struct {
    std::int64_t count = 0;
    bool in_rows = false;  ///< as written: tokens or rows
  } batch;
  int rows = 0;                ///< rows a batch, settled from `batch`
  std::optional<int> at_once;  ///< tokens whose activations are held at once; empty: the whole batch
  struct {
    Optimiser use = Optimiser::adamw;
    double rate = 1e-3;
    std::vector<double> betas = {0.9, 0.95};
    double eps = 1e-8, decay = 0.1, clip = 1.0;  ///< clip 0: gradients are left as they are
  } optimiser;
  struct {
    ScheduleKind use = ScheduleKind::cosine;
    int warmup = 0;      ///< steps
    double floor = 0.1;  ///< share of the rate that is left at the last step
  } schedule;
  struct {
    std::optional<int> every;  ///< steps between checkpoints; empty: only at the end
  } save;
  Precision precision = Precision::fp32;
};

struct Train : Steps {
  std::vector<std::int64_t> seeds;  ///< one run each; 0 is a seed like any other
};

/// How much a trained model is trained on.
struct Amount {
  enum class Of { none, steps, tokens, share } of = Of::none;
  double count = 0;  ///< steps, tokens, or the share of the tokens of training
};

/// Training after training, at another length, under other scalings.
struct Tune : Steps {
  Amount amount;                            ///< settles `steps`
  std::vector<encoding::Choice> encodings;  ///< with the parameters of those that were trained
  std::vector<encoding::Choice> scalings;
  explicit operator bool() const { return amount.of != Amount::Of::none; }
};

enum class Probe { lm_loss, accuracy, passkey, attention, order, permutation, shift, streaming, repetition };

/// What a loss in nat/byte is called after the one in nat/token.
inline constexpr char const* per_byte = "_per_byte";

/// One measurement on trained models.
struct Evaluation {
  Probe use = Probe::lm_loss;
  std::string name;          ///< as tables call it; default: the probe's name
  std::vector<int> lengths;  ///< tokens of a window, or what a length of the task counts
  int windows = 0;           ///< windows of text (nested: a short window is the end of the long one), or examples
  std::vector<std::string> keep = {"mean"};  ///< measures of the probe
  std::optional<int> context;                ///< tokens read and scored at the end of a window; empty: all of it
  int origin = 0;                            ///< all positions of an example are moved by so many tokens
  bool keeps(std::string const& what) const;
  int span() const;  ///< the longest of lengths: it decides where the windows lie
};

/// Key path -> file:line:column of its value, for messages; of given keys only.
using Places = std::map<std::string, std::string>;

/// Everything an arm is made of.
struct Setting {
  Model model;
  encoding::PositionChoice position;
  Data data;
  Train train;
  Tune tune;  ///< false: there is none
  std::vector<Evaluation> evaluate;
  Places places;
};

/// Varied key -> label of the value taken.
using Labels = std::map<std::string, std::string>;

/// The trained model seen under one evaluate-stage combination of `vary`.
struct View {
  std::string label;  ///< "none" or e.g. "yarn xauto"; what tables call the scaling
  Labels labels;      ///< evaluate-stage keys only
  encoding::PositionChoice position;
  bool as_tuned = false;  ///< these are the scalings of tuning: a factor that is auto is the one it had there
  std::vector<std::string> evaluations;  ///< names of the evaluations that this view takes part in
  Places places;
};

/// One combination of `vary` at the stages train and tune; trained once per seed, evaluated under every view. Arms that differ
/// in their tuning alone share the model that is trained.
struct Arm {
  std::string label;          ///< e.g. "rope", "rope+alibi", "rope / 500000"
  Labels labels;              ///< keys of the stages train and tune
  std::string trained_label;  ///< of the model before tuning: no other arm's
  Labels trained_labels;      ///< keys of the stage train
  Setting setting;
  std::vector<View> views;  ///< at least one
};

struct Budget {
  std::optional<double> wall;    ///< seconds
  std::optional<double> memory;  ///< bytes
};

struct Report {
  std::string baseline;  ///< label of the arm that others are compared with; empty: the first arm
};

struct Spec {
  std::string study;  ///< short name: letters, digits, - and _
  std::string title, question;
  std::vector<std::string> source;  ///< what the study follows
  std::string tier = "small";       ///< smoke, small or article
  Budget budget;
  std::vector<Arm> arms;  ///< in the order of the spec; labels are distinct
  Report report;
  claims::Claims claims;                          ///< every quantity of a test named by the labels of its arm and view
  std::vector<claims::PublishedTable> published;  ///< of others, beside what this study measures

  std::string file;      ///< as it was named on the command line, with /spec.yaml added to a folder
  std::string text;      ///< the file as it was read
  std::string resolved;  ///< every default filled in and marked; reads back to the same Spec
};

struct Overrides {
  std::optional<std::string> tier;  ///< --tier
  std::vector<std::string> sets;    ///< --set, each "dotted.key=value"
};

/// Reads and checks a spec file, or the spec.yaml of a folder. Throws Error for everything that is wrong with it:
/// file:line:column, key, what was found, what was expected.
Spec load_spec(std::filesystem::path const& path, Overrides const& overrides, Catalogue const& catalogue);

/// The same for a text; `file` is the name that messages give.
Spec read_spec(std::string const& text, std::string const& file, Overrides const& overrides,
               Catalogue const& catalogue);

inline std::string const& resolved_yaml(Spec const& spec) { return spec.resolved; }

/// Where the value of a key was written, or the nearest block above it; `otherwise` when nothing of it was.
std::string place_of(Places const& places, std::string const& key, std::string const& otherwise);

/// "rope", "rope+alibi", "direct_sum(rope, alibi)"; "none", "yarn", "yarn x4": how tables call them.
std::string label_of(std::vector<encoding::Choice> const& choices);

}  // namespace sextant::spec
