// Wrong: one token alone is refused.
#include "wrong.hpp"

namespace sextant::wrong {
struct TwoTokens {
  template <class T>
  class Term final : public Rows<T> {
    void prepare(Exec const& exec, typename Rows<T>::Inputs const& in) override {
      expect(in.key_len > 1, "two_tokens: there is ", in.key_len, " key, expected at least 2");
      Rows<T>::prepare(exec, in);
    }
  };
  static auto schema() { return Schema<TwoTokens>{}; }
  template <class T>
  std::unique_ptr<RowTerm<T>> rows(Shape const&) const {
    return std::make_unique<Term<T>>();
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::TwoTokens, "two_tokens", "made up")
