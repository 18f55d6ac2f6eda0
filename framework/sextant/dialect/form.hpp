// What every dialect is read into and written from: a rotary encoding with its scalings, in plugin words.
//
// Options hold what the source says and nothing that is a plugin's default, except `base`: an absent base means that the
// source leaves it to a model that it does not show. An absent layout means that the source does not say it.
#pragma once
#include <sextant/encoding/position.hpp>
#include <sextant/spec/catalogue.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sextant::dialect {

using encoding::Choice;
using encoding::Options;
using encoding::Registry;
using encoding::Role;

/// Layers that turn alike.
struct Kind {
  std::string name;  ///< "" when all layers are of one kind; else full_attention or sliding_attention
  Choice encoding;   ///< rope or segmented_theta; encoding.layers says which layers, where that is known
  std::vector<Choice> scalings;
  int window = 0;  ///< tokens that attention of these layers spans; 0: all
};

struct Form {
  std::vector<Kind> kinds;   ///< at least one
  int trained_length = 0;    ///< tokens trained at before any scaling; 0: not said
  int reach = 0;             ///< tokens that the scaled model is said to take; 0: not said
  int head_width = 0;        ///< channels of a head; 0: not said
  std::string architecture;  ///< as GGUF files call it; empty: not said
};

/// What reading took for granted, and what writing left behind; each a sentence.
struct Remarks {
  std::vector<std::string> assumed, lost;
  void assume(std::string sentence);
  void lose(std::string sentence);
};

/// Facts that the command line adds where a description does not say them.
struct Given {
  int trained_length = 0, head_width = 0;
  double base = 0;
  std::string architecture;
  bool moves_rows = false;  ///< whoever loads the weights brings the rows of q and k into the half layout
};

/// Throws Error where `given` is not what the description, read as `form`, says itself: it would not be heeded.
void expect_heeded(Given const& given, Form const& form, std::string const& source);

std::optional<double> number_of(Options const& options, std::string const& name);
std::string word_of(Options const& options, std::string const& name, std::string const& fallback);
bool has(Options const& options, std::string const& name);

/// The form with what every dialect writes alike: no option that is auto or the plugin's default (but base), share as
/// rotary_dim where the head is known, the original length of a scaling written out. Throws Error for a factor that is
/// left to each evaluated length.
Form canonical(Form form, Registry const& registry);

/// The position block that Sextant runs: kinds with scalings of their own become one block where their scaling is a
/// constant factor or a base. Throws Error where it cannot, with the reason.
encoding::PositionChoice position_of(Form const& form, Registry const& registry);

/// Both with every default filled in: what makes two forms one.
encoding::PositionChoice completed(encoding::PositionChoice choice, Registry const& registry);

/// The model's one plain ladder: base changes (ntk, abf) at the head of `scalings` are worked into the base and dropped.
/// Nothing is dropped where what follows them reads the base.
Kind with_plain_base(Kind kind, Form const& form, Registry const& registry, Remarks& remarks);

}  // namespace sextant::dialect
