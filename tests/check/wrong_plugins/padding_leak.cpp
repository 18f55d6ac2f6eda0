// Wrong: where a row begins with padding, every pair reads what the padding holds.
#include "wrong.hpp"

namespace sextant::wrong {
struct PaddingLeak {
  template <class T>
  class Term final : public ReadsAnotherKey<T> {
    int from(kernels::Strip<T> const& s, int, int) const override {
      auto const& document = this->in_.document;
      return document.size() > 0 && document(s.batch, 0) < 0 ? 0 : -1;
    }
  };
  static auto schema() { return Schema<PaddingLeak>{}; }
  template <class T>
  std::unique_ptr<RowTerm<T>> rows(Shape const&) const {
    return std::make_unique<Term<T>>();
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::PaddingLeak, "padding_leak", "made up")
