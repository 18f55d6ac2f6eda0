#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/tasks/documents.hpp>

#include <algorithm>
#include <numeric>
#include <set>

namespace sextant::tasks {
namespace {
constexpr char separator = '\x1E';
}

DocumentText parse_documents(std::string const& stream, std::string const& name) {
  if (stream.find(separator) == std::string::npos)
    return {stream, {{name, 0, static_cast<std::int64_t>(stream.size())}}};
  expect(stream.front() == separator, name, ": ", stream.find(separator), " bytes stand before the first document");
  DocumentText made;
  std::set<std::string> names;
  for (std::size_t at = 0; at < stream.size();) {
    auto const line_end = stream.find('\n', at), next = std::min(stream.find(separator, at + 1), stream.size());
    expect(line_end < next, name, ": a document's name is not a line of its own: ", stream.substr(at + 1, 40));
    std::string const called = stream.substr(at + 1, line_end - at - 1);
    expect(!called.empty() && names.insert(called).second, name, ": two documents are called \"", called, "\"");
    auto const length = static_cast<std::int64_t>(next - line_end - 1);
    if (length > 0) made.documents.push_back({called, static_cast<std::int64_t>(made.text.size()), length});
    made.text.append(stream, line_end + 1, next - line_end - 1);
    at = next;
  }
  return made;
}

Division divide(std::vector<Document> const& documents, double train_share, double test_share) {
  auto const count = documents.size();
  expect(count >= 2, "whole documents cannot be held out of ", count, " document", count == 1 ? "" : "s",
         ", expected a corpus of two or more, or cut: contiguous");
  std::vector<std::pair<std::string, std::size_t>> draw;
  for (std::size_t i = 0; i < count; ++i) draw.emplace_back(sha256(documents[i].name), i);
  std::ranges::sort(draw);
  double const total = std::accumulate(documents.begin(), documents.end(), 0.0, [](double sum, Document const& d) {
    return sum + static_cast<double>(d.length);
  });
  auto const take = [&](double share, auto const& index) {  // at least one, and no more than the share asks for
    std::vector<std::size_t> taken;
    double bytes = 0;
    for (std::size_t k = 0; k + 1 < count && (k == 0 || bytes < share * total * (1 - 1e-12)); ++k) {
      taken.push_back(draw[index(k)].second);
      bytes += static_cast<double>(documents[taken.back()].length);
    }
    return taken;
  };
  auto const test = take(test_share, [](std::size_t k) { return k; });
  auto train = take(train_share, [&](std::size_t k) { return count - 1 - k; });
  if (train.size() > count - test.size()) train.resize(count - test.size());
  auto const in_order = [&](std::vector<std::size_t> taken) {
    std::ranges::sort(taken);
    std::vector<Document> list;
    for (auto const i : taken) list.push_back(documents[i]);
    return list;
  };
  return {in_order(train), in_order(test)};
}

}  // namespace sextant::tasks
