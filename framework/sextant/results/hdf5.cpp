#include <sextant/results/hdf5.hpp>

#include <cstdint>
#include <vector>

namespace sextant::results {
namespace {
std::mutex alone;
}

Session::Session() : alone_(alone) {
  H5open();
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Session::~Session() { H5Eset_auto2(H5E_DEFAULT, print_, print_data_); }

std::string reason() {
  std::vector<std::string> causes;
  auto const collect = [](unsigned, H5E_error2_t const* error, void* out) -> herr_t {
    std::string const cause = error->desc ? error->desc : "";
    auto& list = *static_cast<std::vector<std::string>*>(out);
    if (!cause.empty() && (list.empty() || list.back() != cause)) list.push_back(cause);
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, collect, &causes);
  if (causes.empty()) return "HDF5 gives no reason";
  return causes.size() == 1 ? causes.front() : causes.front() + ": " + causes.back();
}

Handle boolean_type() {
  Handle type(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose, "HDF5 enumeration");
  std::int8_t const no = 0, yes = 1;
  check(H5Tenum_insert(type, "FALSE", &no), "HDF5 enumeration");
  check(H5Tenum_insert(type, "TRUE", &yes), "HDF5 enumeration");
  return type;
}

Handle text_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose, "HDF5 text type");
  check(H5Tset_size(type, H5T_VARIABLE), "HDF5 text type");
  check(H5Tset_cset(type, H5T_CSET_UTF8), "HDF5 text type");
  return type;
}

}  // namespace sextant::results
