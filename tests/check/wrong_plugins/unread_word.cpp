// Wrong: two words of a choice do the same.
#include "wrong.hpp"

namespace sextant::wrong {
struct UnreadWord {
  enum class Shape { linear, square, root };
  Shape shape = Shape::linear;
  static constexpr bool relative = true;
  static auto schema() {
    return Schema<UnreadWord>{}.choice("shape", &UnreadWord::shape, "how the penalty grows",
                                       {{"linear", Shape::linear}, {"square", Shape::square}, {"root", Shape::root}});
  }
  template <class T>
  T bias(NoWeights<T> const&, Site<T> const& at) const {
    double const distance = at.distance();
    return T(-0.1 * (shape == Shape::square ? distance * distance : distance));
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::UnreadWord, "unread_word", "made up")
