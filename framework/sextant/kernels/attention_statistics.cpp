#include <sextant/kernels/attention_reference_row.hpp>
#include <sextant/kernels/attention_statistics.hpp>

#include <algorithm>

namespace sextant::kernels {

template <class T>
RowStatistics row_statistics(AttentionInput<T> const& in, int b, int h, int i, std::vector<double>* weights) {
  int const at_once = reference::Rows<T>::at_once(in);
  reference::Rows<T> const rows(in, b, h / at_once * at_once, i);
  auto const& row = rows.row[static_cast<std::size_t>(h % at_once)];
  RowStatistics out;
  double most = reference::none, sum = 0;
  for (T const logit : row.logit)
    if (logit > reference::lowest) {
      ++out.seen;
      sum += static_cast<double>(logit);
      most = std::max(most, static_cast<double>(logit));
    }
  if (weights) weights->assign(row.logit.size(), 0);
  if (out.seen == 0) return out;
  out.mean = sum / static_cast<double>(out.seen);
  double mass = 0, square = 0, weighted = 0, away = 0;
  double const* const query = row.position(in.query_position, i);
  double const* const keys = row.position(in.key_position, 0);
  for (std::size_t j = 0; j < row.logit.size(); ++j) {
    if (!(row.logit[j] > reference::lowest)) continue;
    double const logit = static_cast<double>(row.logit[j]), weight = std::exp(logit - most);
    square += (logit - out.mean) * (logit - out.mean);
    mass += weight;
    if (weights) (*weights)[j] = weight;
    weighted += weight * (logit - most);
    if (query) away += weight * std::abs(*query - keys[j]);
  }
  out.spread = std::sqrt(square / static_cast<double>(out.seen));
  out.entropy = std::log(mass) - weighted / mass;
  out.sharpest = 1 / mass;
  out.distance = away / mass;
  if (weights)
    for (double& weight : *weights) weight /= mass;
  return out;
}

template RowStatistics row_statistics(AttentionInput<float> const&, int, int, int, std::vector<double>*);
template RowStatistics row_statistics(AttentionInput<double> const&, int, int, int, std::vector<double>*);

}  // namespace sextant::kernels
