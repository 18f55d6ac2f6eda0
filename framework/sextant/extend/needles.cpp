#include <sextant/base/philox.hpp>
#include <sextant/extend/needles.hpp>
#include <sextant/extend/passes.hpp>
#include <sextant/kernels/loss.hpp>
#include <sextant/results/table.hpp>
#include <sextant/run/stop.hpp>
#include <sextant/tasks/passkey.hpp>

#include <algorithm>
#include <span>

namespace sextant::extend {
Answer answer_of(Exec const& exec, run::Network& network, Needle const& needle) {
  int const count = static_cast<int>(needle.tokens.size()) - 1, last = needle.answer;
  View2<int> const tokens("tokens", 1, count);
  std::copy_n(needle.tokens.begin(), count, tokens.data());
  View2<float> const logits("logits", last, network.config().vocabulary);
  model::Batch batch;
  batch.tokens = tokens;
  network.logits(exec, batch, logits);
  View1<int> const answer("answer", static_cast<std::size_t>(last));
  std::copy(needle.tokens.end() - last, needle.tokens.end(), answer.data());
  View1<double> const nll("nll", static_cast<std::size_t>(last));
  kernels::cross_entropy<float>(exec, logits, answer, nll);
  exec.fence();
  Answer out;
  for (int n = 0; n < last; ++n) {
    float const* const row = &logits(n, 0);
    out.correct = out.correct && row[answer(n)] == *std::max_element(row, row + logits.extent(1));
    out.loss += nll(n) / last;
  }
  return out;
}

int passkey(std::uint64_t number) { return 10000 + static_cast<int>(Stream(1, "passkey").below(90000, number)); }

Needle make_needle(Subject const& subject, Document const& document, int length, double depth, int key) {
  auto const told = subject.encode(tasks::passkey_told(key)), asked = subject.encode(tasks::passkey_asked());
  auto const answer = subject.encode(tasks::passkey_answer(key));
  std::size_t const around = told.size() + asked.size() + answer.size();
  expect(static_cast<std::size_t>(length) + 1 >= around + 2, "a passkey takes ", around, " tokens, and the length is ",
         length, "; expected a longer one");
  std::size_t const hay = static_cast<std::size_t>(length) + 1 - around;
  expect(document.tokens.size() >= hay, document.name, " has ", document.tokens.size(), " tokens, expected ", hay);
  return {tasks::hide(std::span(document.tokens).first(hay), depth, told, asked, answer),
          static_cast<int>(answer.size())};
}

results::Group measure_needles(Exec const& exec, Work const& work, Arm const& arm, run::Progress& progress) {
  auto const& settings = work.settings;
  auto const& lengths = settings.lengths;
  std::size_t const depths = static_cast<std::size_t>(settings.depths);
  std::vector<double> depth, loss(depths * lengths.size());
  std::vector<std::int8_t> correct(loss.size());
  for (std::size_t d = 0; d < depths; ++d)
    depth.push_back((static_cast<double>(d) + 0.5) / static_cast<double>(depths));
  results::ResultTable rows;
  for (std::size_t n = 0; n < lengths.size(); ++n) {
    auto network = seen_by(work, arm, lengths[n]);
    double found = 0;
    for (std::size_t d = 0; d < depths; ++d) {
      run::stop_point("while looking for passkeys; this grid will begin again");
      auto const& document = work.documents[d % work.documents.size()];
      auto const needle = make_needle(work.subject, document, lengths[n], depth[d], passkey(n * depths + d));
      auto const answer = answer_of(exec, network, needle);
      correct[d * lengths.size() + n] = answer.correct;
      loss[d * lengths.size() + n] = answer.loss;
      found += answer.correct / static_cast<double>(depths);
      progress.update(static_cast<double>(n * depths + d + 1) / static_cast<double>(loss.size()));
    }
    rows.push_back({.probe = "needle",
                    .length = lengths[n],
                    .region = "all depths",
                    .metric = "accuracy",
                    .value = found,
                    .n = settings.depths,
                    .units = "1"});
  }
  results::Group record;
  record.set("kind", "evaluate");
  auto& eval = record["eval"]["needle"];
  eval.put("length", std::vector<std::int64_t>(lengths.begin(), lengths.end()), "token", "tokens of the text");
  eval.put("depth", depth, "1", "share of the document before the passkey");
  eval.put("correct", {depths, lengths.size()}, correct, "1", "every token of the answer is the likeliest one")
      .along({"depth", "length"});
  eval.put("loss", {depths, lengths.size()}, loss, "nat/token", "loss of the answer").along({"depth", "length"});
  record["results"] = results::columns(rows);
  return record;
}

}  // namespace sextant::extend
