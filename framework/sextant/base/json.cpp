#include <sextant/base/json.hpp>

SEXTANT_JSON_TEMPLATES()
