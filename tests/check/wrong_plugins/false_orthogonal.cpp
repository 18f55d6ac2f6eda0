// Wrong: query and key grow and shrink with the position, and the orthogonal law is claimed.
#include "wrong.hpp"

namespace sextant::wrong {
struct FalseOrthogonal {
  template <class T>
  class Breathe final : public Transform<T> {
   public:
    using Inputs = typename Transform<T>::Inputs;
    void prepare(Exec const&, Inputs const& in) override { in_ = in; }
    void forward(Side, int b, int, T const* in, std::ptrdiff_t in_stride, T* out,
                 std::ptrdiff_t stride) const override {
      scale(b, in, in_stride, out, stride);
    }
    void backward(Side, int b, int, T const*, std::ptrdiff_t, T const* grad_out, std::ptrdiff_t grad_out_stride,
                  T* grad_in, std::ptrdiff_t grad_in_stride) override {
      scale(b, grad_out, grad_out_stride, grad_in, grad_in_stride);
    }
    void finish(Tensors&) override {}

   private:
    void scale(int b, T const* in, std::ptrdiff_t in_stride, T* out, std::ptrdiff_t out_stride) const {
      for (int i = 0; i < in_.count; ++i)
        for (int c = 0; c < in_.channels; ++c)
          out[i * out_stride + c] = T(1 + 0.1 * std::sin(*in_.at(b, i))) * in[i * in_stride + c];
    }
    Inputs in_;
  };
  static constexpr bool orthogonal = true;
  static auto schema() { return Schema<FalseOrthogonal>{}; }
  template <class T>
  std::unique_ptr<Transform<T>> transform(Shape const&) const {
    return std::make_unique<Breathe<T>>();
  }
};
}  // namespace sextant::wrong
SEXTANT_PLUGIN(sextant::wrong::FalseOrthogonal, "false_orthogonal", "made up")
