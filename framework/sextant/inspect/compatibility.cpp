#include <sextant/base/error.hpp>
#include <sextant/inspect/compatibility.hpp>

#include <algorithm>

namespace sextant::inspect {
using encoding::Choice;
using encoding::PositionChoice;
using encoding::Registry;
using encoding::Role;

char const* name_of(Composition composition) {
  constexpr char const* names[] = {"scaling", "sum", "direct_sum over channels", "direct_sum over heads"};
  return names[static_cast<int>(composition)];
}

PositionChoice compose(Composition composition, Choice const& first, Choice const& second) {
  PositionChoice out{{first}, {}, 64};
  if (composition == Composition::scaling) {
    out.scalings = {second};
  } else if (composition == Composition::sum) {
    out.encodings.push_back(second);
  } else {
    Choice sum{"direct_sum", {{"shares", std::vector<double>{1, 1}}}, {first, second}};
    sum.options["over"] = std::string(composition == Composition::channels ? "channels" : "heads");
    out.encodings = {sum};
  }
  return out;
}

namespace {
template <class Description>
void start_from_example(Description const& plugin, Choice& out) {
  if constexpr (requires { plugin.examples.front().options; })
    if (!plugin.examples.empty()) {
      out.options = plugin.examples.front().options;
      out.parts = plugin.examples.front().parts;
    }
}
}  // namespace

Choice choice_of(encoding::Description const& plugin) {
  Choice out{plugin.name, {}, {}};
  start_from_example(plugin, out);
  for (auto const& option : plugin.options) {
    if (option.fallback || out.options.contains(option.name)) continue;
    expect(!option.auto_meaning.empty(), plugin.name, ".", option.name, " is required (", option.expectation(),
           "), and the plugin has no example");
    out.options[option.name] = encoding::Auto{};
  }
  expect(!plugin.takes_parts || !out.parts.empty(), plugin.name, " takes parts, and the plugin has no example");
  return out;
}

encoding::Shape compatibility_shape() { return {.heads = 4, .kv_heads = 4, .head_dim = 64, .model_dim = 256}; }

namespace {
std::string reason_of(PositionChoice const& choice, Registry const& registry) {
  try {
    encoding::Position const made(choice, registry, compatibility_shape(), 2.0 * choice.trained_length);
  } catch (Error const& error) {
    return error.what();
  }
  return "";
}
}  // namespace

int Compatibility::working(Composition composition) const {
  return static_cast<int>(std::count_if(combinations.begin(), combinations.end(), [&](Combination const& c) {
    return c.composition == composition && c.reason.empty();
  }));
}

Compatibility compatibility(Registry const& registry) {
  Compatibility out;
  for (Role role : {Role::encoding, Role::scaling})
    for (auto const& name : registry.names(role)) try {
        (role == Role::encoding ? out.encodings : out.scalings).push_back(choice_of(registry.describe(role, name)));
      } catch (Error const& error) {
        out.not_asked.push_back(error.what());
      }
  for (Composition composition : {Composition::scaling, Composition::sum, Composition::channels, Composition::heads}) {
    auto const& others = composition == Composition::scaling ? out.scalings : out.encodings;
    for (std::size_t i = 0; i < out.encodings.size(); ++i)
      for (std::size_t j = 0; j < others.size(); ++j)
        out.combinations.push_back({composition, static_cast<int>(i), static_cast<int>(j),
                                    reason_of(compose(composition, out.encodings[i], others[j]), registry)});
  }
  return out;
}

}  // namespace sextant::inspect
