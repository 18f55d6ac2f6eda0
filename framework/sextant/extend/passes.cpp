#include <sextant/extend/passes.hpp>
#include <sextant/extend/tune.hpp>

#include <algorithm>

namespace sextant::extend {

std::shared_ptr<encoding::Position const> position_of(Work const& work, Arm const& arm, int length) {
  auto const& shape = work.subject.network->position().shape();
  return std::make_shared<encoding::Position const>(arm.position, work.registry, shape, length);
}

run::Network seen_by(Work const& work, Arm const& arm, int length) {
  return weights_of(work, arm)->with_position(position_of(work, arm, length));
}

std::vector<double> losses(Exec const& exec, run::Network& network, std::span<std::int32_t const> tokens) {
  int const count = static_cast<int>(tokens.size()) - 1;
  View2<int> const row("tokens", 1, count + 1);
  std::copy(tokens.begin(), tokens.end(), row.data());
  View2<double> const nll("nll", 1, count);
  network.loss_per_token(exec, model::next_token_batch(exec, row), nll);
  exec.fence();
  return {nll.data(), nll.data() + nll.size()};
}

}  // namespace sextant::extend
