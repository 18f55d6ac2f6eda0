// nlohmann's JSON, compiled once: reading and writing it is more code than most of what uses it.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

// Where the declaration is `extern`, a file that uses JSON compiles none of these; json.cpp compiles them for all.
#define SEXTANT_JSON_TEMPLATES(EXTERN)                                                                               \
  EXTERN template nlohmann::json::basic_json(nlohmann::json const&);                                                 \
  EXTERN template void nlohmann::json::json_value::destroy(nlohmann::json::value_t);                                 \
  EXTERN template nlohmann::json::json_value::json_value(nlohmann::json::value_t);                                   \
  EXTERN template std::string nlohmann::json::dump(int, char, bool, nlohmann::json::error_handler_t) const;          \
  EXTERN template nlohmann::ordered_json::basic_json(nlohmann::ordered_json const&);                                 \
  EXTERN template void nlohmann::ordered_json::json_value::destroy(nlohmann::ordered_json::value_t);                 \
  EXTERN template nlohmann::ordered_json::json_value::json_value(nlohmann::ordered_json::value_t);                   \
  EXTERN template std::string nlohmann::ordered_json::dump(int, char, bool, nlohmann::ordered_json::error_handler_t) \
      const;                                                                                                         \
  EXTERN template class nlohmann::detail::serializer<nlohmann::json>;                                                \
  EXTERN template class nlohmann::detail::serializer<nlohmann::ordered_json>;                                        \
  EXTERN template class nlohmann::detail::lexer<nlohmann::json, sextant::detail::JsonText>;                          \
  EXTERN template class nlohmann::detail::lexer<nlohmann::ordered_json, sextant::detail::JsonText>;                  \
  EXTERN template class nlohmann::detail::parser<nlohmann::json, sextant::detail::JsonText>;                         \
  EXTERN template class nlohmann::detail::parser<nlohmann::ordered_json, sextant::detail::JsonText>;

namespace sextant::detail {
using JsonText = nlohmann::detail::iterator_input_adapter<std::string::const_iterator>;
}
SEXTANT_JSON_TEMPLATES(extern)
