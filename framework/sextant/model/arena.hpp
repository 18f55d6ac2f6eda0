// All parameters of a model in one contiguous array, each a named slice of it.
#pragma once
#include <sextant/base/kokkos.hpp>
#include <sextant/base/philox.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace sextant::model {

struct Slice {
  std::string name;
  std::vector<std::size_t> shape;  ///< row-major; a projection is [out, in]
  std::size_t offset = 0;
  std::size_t size() const;
};

/// Element i (row-major) of a fresh parameter.
using Init = std::function<double(Stream const& stream, std::size_t i)>;
Init normal_init(double std);
Init constant_init(double value);

/// Where each parameter lies: those that weight decay shrinks first, then the others, each group as it was added. So
/// neighbours of one group (query, key, value) are also one matrix.
class Layout {
 public:
  /// Throws Error when the name is taken.
  void add(std::string const& name, std::vector<std::size_t> shape, bool decayed, Init init);
  /// Fixes the offsets; nothing can be added afterwards.
  void settle();

  std::vector<Slice> const& slices() const { return slices_; }
  std::size_t size() const { return size_; }
  std::size_t decayed() const { return decayed_; }  ///< entries [0, decayed()) decay
  /// Throws Error naming the nearest known name.
  Slice const& find(std::string const& name) const;
  bool has(std::string const& name) const { return index_.count(name) > 0; }

  /// Every entry from Stream(seed, "init/" + name): a parameter does not depend on which others exist. Those added before
  /// the `first` stay as they are.
  template <class T>
  void initialise(std::uint64_t seed, View1<T> const& arena, std::size_t first = 0) const;

 private:
  std::vector<Slice> slices_;
  std::vector<char> decays_;
  std::vector<Init> init_;
  std::map<std::string, std::size_t> index_;
  std::size_t size_ = 0, decayed_ = 0;
  bool settled_ = false;
};

}  // namespace sextant::model
