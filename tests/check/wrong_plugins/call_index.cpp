// Wrong: distance is counted from the query's place in this call, not from its place in the text.
#include "wrong.hpp"

namespace sextant::wrong {
struct CallIndex {
  template <class T>
  class Term final : public Rows<T> {
    void forward(kernels::Strip<T> const& s, kernels::Operands<T> const&) const override {
      for (int r = 0; r < s.rows; ++r)
        for (int c = 0; c < s.cols; ++c)
          if (!this->hidden(s, r, c)) s.logit[r * s.stride + c] -= T(0.03) * T((s.row + r - c) * (s.row + r - c));
    }
  };
  static auto schema() { return Schema<CallIndex>{}; }
  template <class T>
  std::unique_ptr<RowTerm<T>> rows(Shape const&) const {
    return std::make_unique<Term<T>>();
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::CallIndex, "call_index", "made up")
