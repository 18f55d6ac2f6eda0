// Wrong: every pair reads the next key too, which its query may not see.
#include "wrong.hpp"

namespace sextant::wrong {
struct NextKey {
  template <class T>
  class Term final : public ReadsAnotherKey<T> {
    int from(kernels::Strip<T> const&, int, int c) const override { return c + 1 < this->in_.key_len ? c + 1 : -1; }
  };
  static auto schema() { return Schema<NextKey>{}; }
  template <class T>
  std::unique_ptr<RowTerm<T>> rows(Shape const&) const {
    return std::make_unique<Term<T>>();
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::NextKey, "next_key", "made up")
