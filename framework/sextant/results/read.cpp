// HDF5 -> Group.
#include <sextant/results/file.hpp>
#include <sextant/results/hdf5.hpp>
#include <sextant/results/values.hpp>

#include <hdf5_hl.h>

#include <algorithm>
#include <optional>

namespace sextant::results {
namespace {
constexpr int max_depth = 64;  // groups may be linked in a circle

// {} for a scalar; nullopt for an empty (null) dataspace.
std::optional<Shape> shape_of(hid_t space) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return std::nullopt;
  std::vector<hsize_t> sizes(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
  H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  return Shape(sizes.begin(), sizes.end());
}

std::size_t count_of(hid_t space) {
  return static_cast<std::size_t>(std::max<hssize_t>(0, H5Sget_simple_extent_npoints(space)));
}

Attribute to_attribute(Values const& values, bool scalar) {
  return std::visit(
      [&](auto const& list) -> Attribute {
        using T = typename std::decay_t<decltype(list)>::value_type;
        if (scalar) return detail::to_attribute(static_cast<T>(list[0]));
        return detail::to_attribute(list);
      },
      values);
}

// Attributes with which HDF5 itself links arrays and their coordinates: Array::axes stands for them.
bool is_bookkeeping(std::string const& name) {
  return name == "DIMENSION_LIST" || name == "REFERENCE_LIST" || name == "DIMENSION_LABELS";
}

using Attributes = std::map<std::string, Attribute>;

void read_attributes(hid_t object, std::string const& where, Attributes& into,
                     std::map<std::string, std::string>& unread) {
  H5O_info_t info;
  check(H5Oget_info2(object, &info, H5O_INFO_NUM_ATTRS), where, " cannot be read");
  for (hsize_t i = 0; i < info.num_attrs; ++i) {
    Handle const attribute(H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose, where, ": an attribute cannot be read");
    std::string name(static_cast<std::size_t>(std::max<ssize_t>(0, H5Aget_name(attribute, 0, nullptr))), '\0');
    H5Aget_name(attribute, name.size() + 1, name.data());
    if (is_bookkeeping(name)) continue;
    std::string const place = text(where, ": attribute ", name);
    Handle const type(H5Aget_type(attribute), H5Tclose, place), space(H5Aget_space(attribute), H5Sclose, place);
    auto const shape = shape_of(space);
    std::size_t const count = count_of(space);
    auto const read = [&](hid_t memory_type, void* out) {
      return count ? H5Aread(attribute, memory_type, out) : 0;  // HDF5 wants no address for nothing
    };
    std::optional<Values> values;
    if (shape && shape->size() < 2) values = read_values(count, type, read, place);
    if (values)
      into[name] = to_attribute(*values, shape->empty());
    else
      unread["@" + name] = !shape ? "empty" : shape->size() > 1 ? text("of shape ", *shape) : kind(type);
  }
}

using Datasets = std::map<haddr_t, std::pair<std::string, Handle>>;  // of one group, by their place in the file

haddr_t address_of(hid_t object) {
  H5O_info_t info;
  return H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0 ? HADDR_UNDEF : info.addr;
}

// Names for each dimension the sibling that is attached as its scale. By address: asking HDF5 for an object's name makes
// it search the whole file.
void read_axes(hid_t dataset, Datasets const& siblings, Array& array) {
  std::vector<std::string> axes(array.shape.size());
  for (unsigned dimension = 0; dimension < axes.size(); ++dimension) {
    if (H5DSget_num_scales(dataset, dimension) < 1) continue;
    haddr_t scale = HADDR_UNDEF;
    auto const first = [](hid_t, unsigned, hid_t found, void* out) -> herr_t {
      *static_cast<haddr_t*>(out) = address_of(found);
      return 1;
    };
    H5DSiterate_scales(dataset, dimension, nullptr, first, &scale);
    if (auto const found = siblings.find(scale); found != siblings.end()) axes[dimension] = found->second.first;
  }
  if (std::any_of(axes.begin(), axes.end(), [](auto const& axis) { return !axis.empty(); })) array.axes = axes;
}

std::string taken(Attributes& attributes, std::string const& name) {
  auto const found = attributes.find(name);
  if (found == attributes.end() || !std::holds_alternative<std::string>(found->second)) return "";
  std::string value = std::get<std::string>(std::move(found->second));
  attributes.erase(found);
  return value;
}

// Adds the dataset to `into.arrays` or, when its type has no place there, to `into.unread`.
void read_array(hid_t dataset, std::string const& name, Group& into) {
  std::string const where = into.where.ends_with('/') ? into.where + name : into.where + '/' + name;
  Handle const type(H5Dget_type(dataset), H5Tclose, where), space(H5Dget_space(dataset), H5Sclose, where);
  auto const shape = shape_of(space);
  std::size_t const count = count_of(space);
  auto const read = [&](hid_t memory_type, void* out) -> herr_t {
    if (count == 0) return 0;
    return H5Dread(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
  };
  std::optional<Values> values;
  if (shape) values = read_values(count, type, read, where);
  if (!values) {
    into.unread[name] = shape ? kind(type) : "empty";
    return;
  }
  Array array{*shape, std::move(*values), "", "", {}, {}};
  std::map<std::string, std::string> odd;
  read_attributes(dataset, where, array.attributes, odd);
  if (H5DSis_scale(dataset) > 0) array.attributes.erase("CLASS"), array.attributes.erase("NAME");
  array.units = taken(array.attributes, "units");
  array.long_name = taken(array.attributes, "long_name");
  into.arrays[name] = std::move(array);
}

std::vector<std::string> link_names(hid_t group, std::string const& where) {
  H5G_info_t info;
  check(H5Gget_info(group, &info), where, " cannot be read");
  Handle const made(H5Gget_create_plist(group), H5Pclose, where);
  unsigned order = 0;
  H5Pget_link_creation_order(made, &order);
  H5_index_t const index = order & H5P_CRT_ORDER_TRACKED ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    ssize_t const size = H5Lget_name_by_idx(group, ".", index, H5_ITER_INC, i, nullptr, 0, H5P_DEFAULT);
    expect(size >= 0, where, " cannot be listed: ", reason());
    names.emplace_back(static_cast<std::size_t>(size), '\0');
    H5Lget_name_by_idx(group, ".", index, H5_ITER_INC, i, names.back().data(), names.back().size() + 1, H5P_DEFAULT);
  }
  return names;
}

void read_tree(hid_t from, Group& into, int depth) {
  expect(depth < max_depth, into.where, ": groups nest deeper than ", max_depth, "; are they linked in a circle?");
  read_attributes(from, into.where, into.attributes, into.unread);
  Datasets datasets;
  std::vector<std::string> groups;
  for (std::string const& name : link_names(from, into.where)) {
    if (H5Oexists_by_name(from, name.c_str(), H5P_DEFAULT) <= 0) {
      into.unread[name] = "a link that leads nowhere";
      continue;
    }
    Handle object(H5Oopen(from, name.c_str(), H5P_DEFAULT), H5Oclose, into.where, ": ", name, " cannot be read");
    H5I_type_t const type = H5Iget_type(object);
    if (type == H5I_GROUP)
      groups.push_back(name);
    else if (type != H5I_DATASET)
      into.unread[name] = "a named type";
    else {
      read_array(object, name, into);
      haddr_t const address = address_of(object);
      datasets.try_emplace(address, name, std::move(object));
    }
  }
  for (auto const& [address, item] : datasets)
    if (Array* const array = into.arrays.find(item.first)) read_axes(item.second, datasets, *array);
  datasets.clear();
  for (std::string const& name : groups) {
    Handle const group(H5Gopen2(from, name.c_str(), H5P_DEFAULT), H5Gclose, into.where, ": ", name, " cannot be read");
    read_tree(group, into[name], depth + 1);
  }
}

Handle open_file(fs::path const& path) {
  std::string const file = path.string();
  expect(fs::exists(path), file, ": no such file");
  expect(!fs::is_directory(path), file, ": is a directory, expected an HDF5 file");
  expect(fs::file_size(path) > 0, file, ": is empty, expected an HDF5 file");
  Handle const how(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "HDF5 file access");
  H5Pset_fclose_degree(how, H5F_CLOSE_STRONG);
  hid_t const id = H5Fopen(file.c_str(), H5F_ACC_RDONLY, how);
  if (id >= 0) return Handle(id, H5Fclose);
  std::string const why = reason();
  auto const says = [&](char const* part) { return why.find(part) != std::string::npos; };
  if (says("lock file"))
    fail(file,
         ": another program holds it open for writing, or its disk has no file locks: close the other program, or "
         "set HDF5_USE_FILE_LOCKING=FALSE and read it again (",
         why, ")");
  if (says("consistency flags") || says("already open"))
    fail(file, ": a program that wrote to it is still running or was killed: `h5clear -s` makes it readable (", why,
         ")");
  if (says("truncated")) fail(file, ": is cut short, the writer was stopped or the copy is incomplete (", why, ")");
  if (says("signature")) fail(file, ": is not an HDF5 file (", why, ")");
  fail(file, ": cannot be opened as HDF5: ", why);
}

// The file's root or a group in it; `where` becomes what messages call it.
Handle open_group(hid_t file, fs::path const& path, std::string const& inside, std::string& where) {
  where = path.string() + ":/";
  Handle at(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose, where, " cannot be read");
  for (std::size_t begin = 0; begin < inside.size();) {
    std::size_t const end = std::min(inside.find('/', begin), inside.size());
    std::string const name = inside.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty()) continue;
    auto const names = link_names(at, where);
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail(where, ": no group ", name, did_you_mean(name, names));
    where += (where.ends_with('/') ? "" : "/") + name;
    Handle next(H5Oopen(at, name.c_str(), H5P_DEFAULT), H5Oclose, where, " cannot be read");
    expect(H5Iget_type(next) == H5I_GROUP, where, " is an array, expected a group");
    at = std::move(next);
  }
  return at;
}
}  // namespace

Group read_file(fs::path const& path) { return read_group(path, ""); }

Group read_group(fs::path const& path, std::string const& inside) {
  Session const session;
  Handle const file = open_file(path);
  Group root;
  Handle const group = open_group(file, path, inside, root.where);
  read_tree(group, root, 0);
  return root;
}

std::vector<std::string> list(fs::path const& path, std::string const& inside) {
  Session const session;
  Handle const file = open_file(path);
  std::string where;
  Handle const group = open_group(file, path, inside, where);
  return link_names(group, where);
}

}  // namespace sextant::results
