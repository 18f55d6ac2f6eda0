// Reads the head of a GGUF file; no byte is taken without knowing that it is there.
#pragma once
#include <sextant/pretrained/gguf.hpp>

namespace sextant::pretrained {

class GgufReader {
 public:
  explicit GgufReader(Gguf& file);
  void read();

 private:
  /// What is being read, for messages.
  struct Place {
    std::string_view what, name;
  };
  template <class T>
  T number(Place place);
  std::string_view text(Place place);
  /// A count of things that take `least` bytes each: refused when the file cannot hold them.
  std::uint64_t count(Place place, std::size_t least);
  /// take(next) with a function that reads the next value of that type.
  template <class Take>
  void with_type(std::uint32_t type, Place place, int depth, Take const& take);
  GgufArray array(Place place, int depth);
  bool flag(Place place);
  void read_head();
  void read_metadata(std::uint64_t keys);
  void read_tensor();
  void place_tensors();
  void check_overlaps() const;
  std::size_t left() const { return bytes_.size() - at_; }
  template <class... Parts>
  [[noreturn]] void refuse(std::size_t at, Parts const&... parts) const;

  struct Pending {
    StoredTensor tensor;
    std::size_t described_at, offset, bytes;
  };
  Gguf& out_;
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::uint64_t tensors_ = 0;
  std::vector<Pending> pending_;
};

}  // namespace sextant::pretrained
