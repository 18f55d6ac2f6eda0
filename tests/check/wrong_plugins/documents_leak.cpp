// Wrong: pairs of two documents, which the mask hides, are shown again.
#include "wrong.hpp"

namespace sextant::wrong {
struct DocumentsLeak {
  template <class T>
  class Term final : public Rows<T> {
    void forward(kernels::Strip<T> const& s, kernels::Operands<T> const&) const override {
      auto const& document = this->in_.document;
      if (document.size() == 0) return;
      for (int r = 0; r < s.rows; ++r)
        for (int c = 0; c < s.cols && c <= this->own(s, r); ++c) {
          int const mine = document(s.batch, this->own(s, r)), theirs = document(s.batch, c);
          if (mine >= 0 && theirs >= 0 && mine != theirs) s.logit[r * s.stride + c] = T(-1);
        }
    }
  };
  static auto schema() { return Schema<DocumentsLeak>{}; }
  template <class T>
  std::unique_ptr<RowTerm<T>> rows(Shape const&) const {
    return std::make_unique<Term<T>>();
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::DocumentsLeak, "documents_leak", "made up")
