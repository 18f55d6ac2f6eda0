#include <sextant/base/error.hpp>
#include <sextant/kernels/optimizer.hpp>
#include <sextant/kernels/row_math.hpp>

namespace sextant::kernels {
namespace {
template <class T>
struct Coefficients {
  T beta1, beta2, rest1, rest2;
  T step_size;        // rate / (1 - beta1^step)
  T root_correction;  // 1 / sqrt(1 - beta2^step)
  T eps, grad_factor;
};

template <class T>
KOKKOS_INLINE_FUNCTION void adamw_run(Coefficients<T> k, T keep, std::int64_t begin, std::int64_t end,
                                      T* __restrict__ parameter, T const* __restrict__ grad, T* __restrict__ moment1,
                                      T* __restrict__ moment2) {
  for (std::int64_t i = begin; i < end; ++i) {
    T const g = grad[i] * k.grad_factor;
    moment1[i] = k.beta1 * moment1[i] + k.rest1 * g;
    moment2[i] = k.beta2 * moment2[i] + k.rest2 * g * g;
    T const root = static_cast<T>(::sqrt(moment2[i])) * k.root_correction;
    parameter[i] = keep * parameter[i] - k.step_size * moment1[i] / (root + k.eps);
  }
}
}  // namespace

template <class T>
void adamw(Exec const& exec, AdamW const& options, std::int64_t step, double grad_factor, std::int64_t decayed,
           View1<T> const& parameter, View1<T const> const& grad, View1<T> const& moment1, View1<T> const& moment2) {
  std::int64_t const count = static_cast<std::int64_t>(parameter.extent(0));
  auto const fits = [&](auto const& x) { return static_cast<std::int64_t>(x.extent(0)) == count; };
  expect(fits(grad) && fits(moment1) && fits(moment2), "adamw: grad, moment1 and moment2 must have ", count,
         " entries");
  expect(step >= 1, "adamw: step is ", step, ", expected 1 for the first");
  expect(decayed >= 0 && decayed <= count, "adamw: ", decayed, " decayed entries of ", count);
  double const n = static_cast<double>(step);
  Coefficients<T> const k{static_cast<T>(options.beta1),
                          static_cast<T>(options.beta2),
                          static_cast<T>(1 - options.beta1),
                          static_cast<T>(1 - options.beta2),
                          static_cast<T>(options.rate / (1 - std::pow(options.beta1, n))),
                          static_cast<T>(1 / std::sqrt(1 - std::pow(options.beta2, n))),
                          static_cast<T>(options.eps),
                          static_cast<T>(grad_factor)};
  T const keep = static_cast<T>(1 - options.rate * options.decay);
  constexpr std::int64_t task = 4096;
  Kokkos::parallel_for(
      "sextant::adamw", Kokkos::RangePolicy<Exec>(exec, 0, blocks_of(count, task)), KOKKOS_LAMBDA(int block) {
        std::int64_t const begin = block * task, end = begin + task < count ? begin + task : count;
        std::int64_t const middle = decayed < begin ? begin : decayed < end ? decayed : end;
        adamw_run(k, keep, begin, middle, parameter.data(), grad.data(), moment1.data(), moment2.data());
        adamw_run(k, T(1), middle, end, parameter.data(), grad.data(), moment1.data(), moment2.data());
      });
}

template void adamw(Exec const&, AdamW const&, std::int64_t, double, std::int64_t, View1<float> const&,
                    View1<float const> const&, View1<float> const&, View1<float> const&);
template void adamw(Exec const&, AdamW const&, std::int64_t, double, std::int64_t, View1<double> const&,
                    View1<double const> const&, View1<double> const&, View1<double> const&);

}  // namespace sextant::kernels
