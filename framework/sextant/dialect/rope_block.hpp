// The block that transformers calls rope_parameters (once rope_scaling) and that vLLM reads with words of its own: one
// table says which key is which option of which scaling; reading and writing both go by it.
#pragma once
#include <sextant/dialect/fields.hpp>
#include <sextant/dialect/form.hpp>

#include <sextant/base/json.hpp>

namespace sextant::dialect {

struct Word {
  char const* option;
  char const* key;
  bool needed = false;  ///< their readers take no default for it
};

/// How a block says what multiplies cos and sin.
enum class Magnitude {
  none,       ///< it does not
  whole,      ///< attention_factor replaces the computed value
  relative,   ///< attn_factor multiplies the computed value
  two_scales  ///< short_mscale and long_mscale replace it, one for each list
};

struct Method {
  char const* type;     ///< rope_type
  char const* scaling;  ///< plugin
  std::vector<Word> words;
  Magnitude magnitude = Magnitude::none;
};

struct Tongue {
  char const* name;  ///< as messages call it
  std::vector<Method> methods;
  std::vector<std::pair<char const*, char const*>> refused;  ///< a rope_type, and why it has no translation
  bool proportional = false;                                 ///< knows rope_type proportional
};
Tongue const& transformers();
Tongue const& transformers4();
Tongue const& vllm();
/// That of tests/data/scaling.json and the like: transformers' words, and two methods more.
Tongue const& reference_cases();

/// What stands around a block; 0 or empty: not said.
struct Surroundings {
  int head_width = 0, most = 0, original = 0;  ///< `most`: max_position_embeddings; `original`: beside it
  std::optional<double> base, share;           ///< rope_theta and partial_rotary_factor outside the block
  double otherwise = 0;                        ///< base where neither says one; 0: leave it open
  /// A share that is no whole number of channels is cut towards zero, and keys of other methods are passed over.
  bool as_transformers = false;
};

struct BlockRead {
  Kind kind;
  int trained_length = 0;
};
BlockRead read_rope_block(Fields const& block, Tongue const& tongue, Surroundings const& around,
                          Registry const& registry, Remarks& remarks);

/// The block of one kind of layers, rope_theta and partial_rotary_factor within. Throws Error with the reason for what the
/// tongue has no words for.
nlohmann::ordered_json write_rope_block(Kind const& kind, Form const& form, Tongue const& tongue,
                                        Registry const& registry, Remarks& remarks);

/// An option of a scaling. Throws Error where the scaling or the option is not there.
encoding::Option const& option_of(Registry const& registry, char const* scaling, std::string const& name);
/// The one scaling of a kind, or nullptr. Throws Error for several, and for anything that is not one rotary encoding.
Choice const* only_scaling(Kind const& kind, char const* dialect);
/// Channels that turn of width_of(kind), from a share of them. Throws Error with legal shares nearby.
int channels_of(double share, int head_width, std::string const& where);
/// max_position_embeddings: tokens that the scaled model takes, as said or trained length times factor, and the trained
/// length under dynamic, which follows the actual one; 0 where nothing is known.
int reach_of(Form const& form);
/// A scaling's magnitude over the one it computes by itself; 1 where nothing replaces it.
double relative_magnitude(Choice const& scaling, Kind const& kind, Form const& form, Registry const& registry,
                          Remarks& remarks);
/// Sets attention_factor so that the magnitude is `relative` times the computed one.
void multiply_magnitude(Choice& scaling, double relative, Kind const& kind, Form const& form, Registry const& registry);

}  // namespace sextant::dialect
