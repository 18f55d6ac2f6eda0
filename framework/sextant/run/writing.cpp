#include <sextant/base/error.hpp>
#include <sextant/kernels/matmul.hpp>
#include <sextant/run/cached_reader.hpp>
#include <sextant/run/writing.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace sextant::run {

View2<int> write_on(Exec const& exec, Network& network, View2<int> const& prompts, View2<double> const& positions,
                    int length, Choose const& choose) {
  int const rows = prompts.extent_int(0), prompt = prompts.extent_int(1), vocabulary = network.config().vocabulary;
  expect(rows <= kernels::few_rows, "write_on: ", rows, " rows, expected at most ", kernels::few_rows,
         ": more would add up their products in another order");
  expect(prompt > 0 && prompt < length, "write_on: a prompt of ", prompt, " tokens, expected 1 to ", length - 1);
  View2<int> const tokens("written", rows, length);
  for (int row = 0; row < rows; ++row) std::copy_n(&prompts(row, 0), prompt, &tokens(row, 0));
  CachedReader reader(exec, network, tokens, positions, prompt);
  View2<float> const logits("logits", rows, vocabulary);
  // A prompt that few_rows could hold goes token by token: any number of rows then takes the same products.
  int const piece = prompt > kernels::few_rows ? prompt : 1;
  for (int read = 0; read < prompt; read += piece) reader.read(piece, logits);
  for (int at = prompt; at < length; ++at) {
    if (at > prompt) reader.read(1, logits);
    for (int row = 0; row < rows; ++row) {
      std::span<float const> const each(&logits(row, 0), static_cast<std::size_t>(vocabulary));
      for (float const x : each)
        expect(std::isfinite(x), "write_on: a logit is ", x, " behind ", at, " tokens, expected finite numbers");
      tokens(row, at) = choose(each, row, at - prompt);
    }
  }
  return tokens;
}

std::int32_t likeliest(std::span<float const> logits) {
  return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

std::int32_t drawn(std::span<float const> logits, double uniform) {
  double const top = *std::max_element(logits.begin(), logits.end());
  std::vector<double> weights;
  double total = 0, below = 0;
  for (float const x : logits) total += weights.emplace_back(std::exp(x - top));
  std::size_t last = 0;
  for (std::size_t v = 0; v < weights.size(); ++v) {
    if (weights[v] == 0) continue;
    last = v;  // where uniform * total rounds up to total
    below += weights[v];
    if (uniform * total < below) break;
  }
  return static_cast<std::int32_t>(last);
}

double repeated(std::span<std::int32_t const> tokens, int n) {
  int const all = static_cast<int>(tokens.size()) - n + 1;
  expect(n > 0 && all > 0, "repeated: ", tokens.size(), " tokens have no run of ", n);
  std::set<std::vector<std::int32_t>> distinct;
  for (int i = 0; i < all; ++i) distinct.emplace(tokens.begin() + i, tokens.begin() + i + n);
  return 1 - static_cast<double>(distinct.size()) / all;
}

}  // namespace sextant::run
