#include <sextant/extend/losses.hpp>
#include <sextant/extend/passes.hpp>
#include <sextant/results/file.hpp>
#include <sextant/results/table.hpp>
#include <sextant/run/stop.hpp>
#include <sextant/statistics/sample.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sextant::extend {
namespace {
using results::Group;

/// What `measure` finds of each document, kept in the stage's folder as soon as it is known.
template <class Measure>
std::vector<Group> by_document(Work const& work, results::Claim const& claim, run::Progress& progress,
                               Measure const& measure) {
  std::vector<Group> out;
  for (std::size_t n = 0; n < work.documents.size(); ++n) {
    auto const file = claim.folder() / fmt::format("document_{}.h5", n);
    if (fs::exists(file)) {
      out.push_back(results::read_file(file));
    } else {
      run::stop_point("while reading documents; those that were read are kept");
      out.push_back(measure(work.documents[n]));
      results::write_file(file, out.back());
    }
    progress.update(static_cast<double>(n + 1) / static_cast<double>(work.documents.size()));
  }
  return out;
}

std::span<std::int32_t const> part(Document const& document, int from, int count) {
  return std::span<std::int32_t const>(document.tokens).subspan(from, count);
}

/// A region of every length: its mean over documents, and each document's own.
class Region {
 public:
  Region(std::string name, std::string what, std::vector<int> const& lengths)
      : name_(std::move(name)), what_(std::move(what)), lengths_(lengths), each_(lengths.size()) {}

  void add(std::size_t length, double value) { each_[length].push_back(value); }

  void write(Group& eval, results::ResultTable& rows, std::string const& probe, std::int64_t tokens) const {
    std::vector<double> value, error, all;
    for (std::size_t n = 0; n < each_.size(); ++n) {
      double const count = static_cast<double>(each_[n].size());
      value.push_back(statistics::mean(each_[n]));
      error.push_back(count > 1 ? statistics::sample_sd(each_[n]) / std::sqrt(count) : std::nan(""));
      all.insert(all.end(), each_[n].begin(), each_[n].end());
      rows.push_back({.probe = probe,
                      .length = lengths_[n],
                      .region = name_,
                      .metric = "loss",
                      .value = value.back(),
                      .error = error.back(),
                      .n = static_cast<std::int64_t>(each_[n].size()) * (tokens > 0 ? tokens : lengths_[n]),
                      .units = "nat/token"});
    }
    eval.put(name_, value, "nat/token", what_).along({"length"});
    eval.put(name_ + "_stderr", error, "nat/token", "standard error of " + name_ + " over documents").along({"length"});
    eval.put(name_ + "_by_window", {each_.size(), each_.front().size()}, all, "nat/token", name_ + " of each document")
        .along({"length", "window"});
  }

 private:
  std::string name_, what_;
  std::vector<int> const& lengths_;
  std::vector<std::vector<double>> each_;  // [length][document]
};

Group start_record(Work const& work, std::vector<int> const& lengths, int seen_at_most, char const* probe) {
  Group record;
  record.set("kind", "evaluate");
  record["config"].set("train.length", work.subject.position.trained_length);
  auto& eval = record["eval"][probe];
  std::vector<std::int64_t> length(lengths.begin(), lengths.end()), seen, window;
  for (int const n : lengths) seen.push_back(seen_at_most > 0 ? std::min(n, seen_at_most) : n);
  for (std::size_t n = 0; n < work.documents.size(); ++n) window.push_back(static_cast<std::int64_t>(n));
  eval.put("length", length, "token", "tokens from the beginning of the document");
  eval.put("seen", seen, "token", "tokens that the model saw of them: their end").along({"length"});
  eval.put("window", window, "1", "number of the document");
  return record;
}
}  // namespace

Group measure_losses(Exec const& exec, Work const& work, Arm const& arm, results::Claim const& claim,
                     run::Progress& progress) {
  auto const& settings = work.settings;
  auto const& lengths = settings.lengths;
  auto const found = by_document(work, claim, progress, [&](Document const& document) {
    Group out;
    for (int const length : lengths) {
      if (!arm.follows_length && length < settings.longest()) continue;
      auto network = seen_by(work, arm, length);
      out.put(text("loss_", length), losses(exec, network, part(document, 0, length + 1)), "nat/token",
              "loss of each token");
    }
    return out;
  });
  Group record = start_record(work, lengths, 0, "lm_loss");
  auto& eval = record["eval"]["lm_loss"];
  Region tail(text("tail", settings.tail), text("mean loss of the last ", settings.tail, " tokens"), lengths);
  Region whole("mean", "mean loss of all tokens", lengths);
  std::vector<double> position(static_cast<std::size_t>(settings.longest()), 0.0);
  std::vector<std::int64_t> index;
  for (auto const& document : found) {
    for (std::size_t n = 0; n < lengths.size(); ++n) {
      auto const& loss = document.values<double>(text("loss_", arm.follows_length ? lengths[n] : settings.longest()));
      auto const prefix = std::span(loss).first(static_cast<std::size_t>(lengths[n]));
      tail.add(n, statistics::mean(prefix.last(static_cast<std::size_t>(settings.tail))));
      whole.add(n, statistics::mean(prefix));
    }
    auto const& loss = document.values<double>(text("loss_", settings.longest()));
    for (std::size_t i = 0; i < position.size(); ++i) position[i] += loss[i] / static_cast<double>(found.size());
  }
  results::ResultTable rows;
  tail.write(eval, rows, "lm_loss", settings.tail);
  whole.write(eval, rows, "lm_loss", 0);
  for (std::size_t i = 0; i < position.size(); ++i) index.push_back(static_cast<std::int64_t>(i));
  eval.put(text("position_", settings.longest()), index, "token", "position in the document");
  eval.put(text("per_position_", settings.longest()), position, "nat/token", "mean loss at each position")
      .along({text("position_", settings.longest())});
  record["results"] = results::columns(rows);
  return record;
}

std::vector<int> stretched_lengths(Work const& work) {
  std::vector<int> out;
  for (int const length : work.settings.lengths)
    if (length > work.subject.position.trained_length) out.push_back(length);
  return out;
}

Group measure_window(Exec const& exec, Work const& work, Arm const& arm, results::Claim const& claim,
                     run::Progress& progress) {
  int const window = work.subject.position.trained_length, tail = work.settings.tail;
  auto const lengths = stretched_lengths(work);
  auto const found = by_document(work, claim, progress, [&](Document const& document) {
    Group out;
    auto network = seen_by(work, arm, window);
    for (int const length : lengths) {
      auto const read = part(document, length - window, window + 1);
      std::vector<std::int32_t> tokens(read.begin(), read.end());
      if (work.subject.bos) tokens.front() = *work.subject.bos;
      auto const loss = losses(exec, network, tokens);
      out.put(text("tail_", length), std::vector<double>(loss.end() - tail, loss.end()), "nat/token",
              "loss of each token");
    }
    return out;
  });
  Group record = start_record(work, lengths, window, "window_control");
  Region region(text("tail", tail), text("mean loss of the last ", tail, " tokens"), lengths);
  for (auto const& document : found)
    for (std::size_t n = 0; n < lengths.size(); ++n)
      region.add(n, statistics::mean(document.values<double>(text("tail_", lengths[n]))));
  results::ResultTable rows;
  region.write(record["eval"]["window_control"], rows, "window_control", tail);
  record["results"] = results::columns(rows);
  return record;
}

}  // namespace sextant::extend
