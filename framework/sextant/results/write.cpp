// Group -> HDF5. The file is formed in memory and then written like any other, so that HDF5 never meets a full disk, a
// file lock or a kill.
#include <sextant/results/file.hpp>
#include <sextant/results/hdf5.hpp>

#include <hdf5_hl.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace sextant::results {
namespace {
constexpr std::size_t chunk_bytes = 64 * 1024;

std::string join(std::string const& where, std::string const& name) {
  return where.ends_with('/') ? where + name : where + '/' + name;
}

std::vector<char const*> pointers(std::vector<std::string> const& texts, std::string const& where) {
  std::vector<char const*> out;
  for (std::string const& one : texts) {
    expect(one.find('\0') == std::string::npos, where, ": a text holds a NUL at byte ", one.find('\0'),
           ", which HDF5 cannot keep");
    out.push_back(one.c_str());
  }
  return out;
}

template <class T>
hid_t number_type() {
  if constexpr (std::is_same_v<T, float>)
    return H5T_NATIVE_FLOAT;
  else if constexpr (std::is_same_v<T, double>)
    return H5T_NATIVE_DOUBLE;
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return H5T_NATIVE_INT8;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return H5T_NATIVE_UINT8;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return H5T_NATIVE_INT32;
  else
    return H5T_NATIVE_INT64;
}

// Calls use(memory and file type, address of the elements) with a list in the form HDF5 takes.
template <class T, class Use>
void in_hdf5_form(std::vector<T> const& list, std::string const& where, Use const& use) {
  if constexpr (std::is_same_v<T, std::string>) {
    auto const all = pointers(list, where);
    use(text_type(), all.data());
  } else if constexpr (std::is_same_v<T, bool>) {
    std::vector<std::int8_t> const bytes(list.begin(), list.end());
    use(boolean_type(), bytes.data());
  } else {
    use(Handle(H5Tcopy(number_type<T>()), H5Tclose, where), list.data());
  }
}

Handle dataspace(Shape const& shape, std::string const& where) {
  if (shape.empty()) return Handle(H5Screate(H5S_SCALAR), H5Sclose, where);
  std::vector<hsize_t> const sizes(shape.begin(), shape.end());
  return Handle(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose, where);
}

template <class T>
void write_attribute(hid_t object, std::string const& name, Shape const& shape, std::vector<T> const& list,
                     std::string const& where) {
  in_hdf5_form(list, where, [&](hid_t type, void const* from) {
    Handle const space = dataspace(shape, where);
    Handle const attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, where,
                           " cannot be made");
    if (!list.empty()) check(H5Awrite(attribute, type, from), where, " cannot be written");
  });
}

void write_attribute(hid_t object, std::string const& name, Attribute const& value, std::string const& owner) {
  std::string const where = text(owner, ": attribute ", name);
  std::visit(
      [&](auto const& one) {
        using T = std::decay_t<decltype(one)>;
        if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
          write_attribute(object, name, {}, std::vector<T>{one}, where);
        else
          write_attribute(object, name, {one.size()}, one, where);
      },
      value);
}

// About 64 KiB: whole rows where they fit, else parts of rows.
std::vector<hsize_t> chunk(Shape const& shape, std::size_t element_bytes) {
  std::vector<hsize_t> sizes(shape.begin(), shape.end());
  std::size_t room = std::max<std::size_t>(1, chunk_bytes / element_bytes);
  for (std::size_t i = sizes.size(); i-- > 0;) {
    sizes[i] = std::min<hsize_t>(sizes[i], room);
    room = std::max<std::size_t>(1, room / sizes[i]);
  }
  return sizes;
}

// Checksummed and compressed chunks for lists of numbers; what is single, empty or text lies in one piece.
Handle layout(Array const& array, hid_t type, std::string const& where) {
  Handle made(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, where);
  H5Pset_obj_track_times(made, false);
  if (array.shape.empty() || array.size() == 0 || array.type() == Type::text) return made;
  auto const sizes = chunk(array.shape, H5Tget_size(type));
  check(H5Pset_chunk(made, static_cast<int>(sizes.size()), sizes.data()), where, " cannot be chunked");
  check(H5Pset_shuffle(made), where, " cannot be shuffled");
  check(H5Pset_deflate(made, 4), where, " cannot be compressed");
  check(H5Pset_fletcher32(made), where, " cannot be checksummed");
  return made;
}

bool holds_nan(Values const& values) {
  return std::visit(
      [](auto const& list) {
        using T = typename std::decay_t<decltype(list)>::value_type;
        if constexpr (std::is_floating_point_v<T>)
          return std::any_of(list.begin(), list.end(), [](T value) { return std::isnan(value); });
        else
          return false;
      },
      values);
}

Handle write_array(hid_t parent, std::string const& name, Array const& array, std::string const& where) {
  hid_t made = -1;
  std::visit(
      [&](auto const& list) {
        in_hdf5_form(list, where, [&](hid_t type, void const* from) {
          Handle const space = dataspace(array.shape, where), how = layout(array, type, where);
          made = H5Dcreate2(parent, name.c_str(), type, space, H5P_DEFAULT, how, H5P_DEFAULT);
          if (made < 0) return;
          if (array.size() > 0)
            check(H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, from), where, " cannot be written");
        });
      },
      array.values);
  Handle dataset(made, H5Dclose, where, " cannot be made");
  auto attributes = array.attributes;
  if (!array.units.empty()) attributes["units"] = array.units;
  if (!array.long_name.empty()) attributes["long_name"] = array.long_name;
  if (holds_nan(array.values)) attributes.try_emplace("reason", "not a number when it was computed");
  for (auto const& [key, value] : attributes) write_attribute(dataset, key, value, where);
  return dataset;
}

// Attaches the arrays that others name as axes: what netCDF-4 and xarray call coordinates.
void attach_scales(Group const& group, std::map<std::string, Handle> const& datasets, std::string const& where) {
  std::set<std::string> scales;
  for (auto const& [name, array] : group.arrays)
    for (std::size_t i = 0; i < array.axes.size(); ++i) {
      std::string const& axis = array.axes[i];
      if (axis.empty() || axis == name) continue;
      Array const& scale = group.array(axis);
      expect(scale.shape == Shape{array.shape.at(i)}, join(where, axis), " is ", scale.describe(), ", expected [",
             array.shape[i], "] as an axis of ", name, " ", array.shape);
      scales.insert(axis);
    }
  for (std::string const& scale : scales) check(H5DSset_scale(datasets.at(scale), scale.c_str()), join(where, scale));
  for (auto const& [name, array] : group.arrays) {
    expect(!scales.contains(name) || array.axes.empty() || array.axes == std::vector<std::string>{name},
           join(where, name), " is an axis of other arrays, so it cannot have axes of its own");
    for (std::size_t i = 0; i < array.axes.size(); ++i)
      if (std::string const& axis = array.axes[i]; !axis.empty() && axis != name)
        check(H5DSattach_scale(datasets.at(name), datasets.at(axis), static_cast<unsigned>(i)), join(where, name),
              " cannot be attached to ", axis);
  }
}

void write_tree(hid_t into, Group const& group, std::string const& where) {
  for (auto const& [name, value] : group.attributes) write_attribute(into, name, value, where);
  std::map<std::string, Handle> datasets;
  for (auto const& [name, array] : group.arrays)
    datasets.emplace(name, write_array(into, name, array, join(where, name)));
  attach_scales(group, datasets, where);
  Handle const how(H5Pcreate(H5P_GROUP_CREATE), H5Pclose, where);
  H5Pset_link_creation_order(how, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_obj_track_times(how, false);
  for (auto const& [name, child] : group.groups) {
    std::string const place = join(where, name);
    Handle const made(H5Gcreate2(into, name.c_str(), H5P_DEFAULT, how, H5P_DEFAULT), H5Gclose, place,
                      " cannot be made");
    write_tree(made, child, place);
  }
}

std::string image(Group const& root, std::string const& name) {
  Session const session;
  Handle const in_memory(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, name), how(H5Pcreate(H5P_FILE_CREATE), H5Pclose, name);
  check(H5Pset_fapl_core(in_memory, 1 << 20, false), name);
  H5Pset_link_creation_order(how, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  H5Pset_obj_track_times(how, false);
  H5Pset_istore_k(how, 2);  // small chunk indices: most arrays are one chunk
  Handle const file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, how, in_memory), H5Fclose, name, ": cannot be formed");
  Handle const top(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose, name);
  write_tree(top, root, name + ":/");
  check(H5Fflush(file, H5F_SCOPE_GLOBAL), name, ": cannot be formed");
  ssize_t const size = H5Fget_file_image(file, nullptr, 0);
  expect(size >= 0, name, ": cannot be formed: ", reason());
  std::string bytes(static_cast<std::size_t>(size), '\0');
  expect(H5Fget_file_image(file, bytes.data(), bytes.size()) == size, name, ": cannot be formed: ", reason());
  return bytes;
}
}  // namespace

void write_file(fs::path const& path, Group const& root) { write_file_atomically(path, image(root, path.string())); }

}  // namespace sextant::results
