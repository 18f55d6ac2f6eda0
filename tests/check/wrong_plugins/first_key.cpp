// Wrong: every pair reads key 0 too, hidden or not.
#include "wrong.hpp"

namespace sextant::wrong {
struct FirstKey {
  template <class T>
  class Term final : public ReadsAnotherKey<T> {
    int from(kernels::Strip<T> const&, int, int) const override { return 0; }
  };
  static auto schema() { return Schema<FirstKey>{}; }
  template <class T>
  std::unique_ptr<RowTerm<T>> rows(Shape const&) const {
    return std::make_unique<Term<T>>();
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::FirstKey, "first_key", "made up")
