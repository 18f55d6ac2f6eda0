// permutation: the tokens of a window are shuffled and their logits put back in order. Attention that sees all tokens and no
// positions cannot tell the difference; a causal mask can, and so can an encoding.
#include <sextant/base/philox.hpp>
#include <sextant/run/compare.hpp>

#include <numeric>
#include <optional>
#include <utility>

namespace sextant::run {

std::vector<int> drawn_order(int count, int window) {
  Stream const stream(0, "evaluate/permutation");
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (int i = count - 1; i > 0; --i) {
    auto const other = stream.below(i + 1, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(window));
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(other)]);
  }
  return order;
}

Logits shuffled_logits(Exec const& exec, Network& network, Window const& window, std::vector<int> const& order) {
  std::vector<std::int32_t> tokens;
  for (int const from : order) tokens.push_back(window.tokens[static_cast<std::size_t>(from)]);
  auto const read = logits_of(exec, network, {tokens, window.positions});
  Logits const out("logits", read.extent(0), read.extent(1));
  for (int i = 0; i < read.extent_int(0); ++i)
    for (int v = 0; v < read.extent_int(1); ++v) out(order[static_cast<std::size_t>(i)], v) = read(i, v);
  return out;
}

Network without_mask(Network const& network) {
  auto config = network.config();
  config.causal = false;
  // Seen, not owned.
  std::shared_ptr<encoding::Position const> const position(std::shared_ptr<void>(), &network.position());
  Network open(config, position, 0, model::Start::zero);
  Kokkos::deep_copy(open.parameters(), network.parameters());
  return open;
}

results::Group measure_permutation(Probing const& p) {
  auto const& keep = p.stage.evaluation.keep;
  std::optional<Network> open;
  if (p.stage.evaluation.keeps("open")) open.emplace(without_mask(p.network));
  return compare_passes(p, [&](Window const& window, int number) {
    auto const order = drawn_order(static_cast<int>(window.tokens.size()), number);
    std::vector<double> out;
    for (auto const& measure : keep) {
      Network& network = measure == "open" ? *open : p.network;
      out.push_back(distance(logits_of(p.exec, network, window), shuffled_logits(p.exec, network, window, order)));
    }
    return out;
  });
}

}  // namespace sextant::run
