#include <sextant/kernels/attention_statistics.hpp>
#include <sextant/run/look.hpp>

#include <algorithm>

namespace sextant::run {

double Gaze::quantile(int layer, int head, double q) const {
  double const* const weight = mass.data() + (static_cast<std::size_t>(layer) * heads + head) * length;
  double sum = 0;
  for (int distance = 0; distance < length; ++distance)
    if (sum += weight[distance]; sum >= q * (1 - 1e-12)) return distance;
  return length - 1;
}

Gaze look(Exec const& exec, Network& network, std::span<std::int32_t const> tokens, int count,
          View2<double> const& positions) {
  auto const& config = network.config();
  int const length = static_cast<int>(tokens.size());
  std::size_t const cells = static_cast<std::size_t>(config.layers) * static_cast<std::size_t>(config.heads);
  Gaze out{config.layers,
           config.heads,
           length,
           std::vector<double>(cells),
           std::vector<double>(cells),
           std::vector<double>(cells * static_cast<std::size_t>(length))};
  network.each_layer(exec, one_row(tokens, positions), [&](Network::LayerView const& view) {
    Kokkos::parallel_for(
        "sextant::look", Kokkos::RangePolicy<HostExec>(host_side(exec), 0, config.heads), [&](int head) {
          std::size_t const cell = static_cast<std::size_t>(view.layer * config.heads + head);
          std::vector<double> weights;
          for (int n = 0; n < count; ++n) {
            int const row = length - 1 - n * (length / 2) / count;
            auto const found = kernels::row_statistics(view.attention, 0, head, row, &weights);
            out.entropy[cell] += found.entropy / count;
            out.spread[cell] += found.spread / count;
            for (int key = 0; key <= row; ++key)
              out.mass[cell * static_cast<std::size_t>(length) + static_cast<std::size_t>(row - key)] +=
                  weights[static_cast<std::size_t>(key)] / count;
          }
        });
    exec.fence();
  });
  return out;
}

}  // namespace sextant::run
