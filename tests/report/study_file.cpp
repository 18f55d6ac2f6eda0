#include "study_file.hpp"

#include <sextant/base/error.hpp>
#include <sextant/claims/judge.hpp>
#include <sextant/results/rerun.hpp>
#include <sextant/results/table.hpp>

#include <cmath>

namespace sextant::test {
namespace {
claims::Outcome claim(std::string const& id, std::string const& source, double effect) {
  claims::Outcome out;
  std::string const test = "lm_loss.mean @ 256 {encoding=rope} < 2";
  out.claim = {.id = id, .says = "It says " + id, .source = source, .test = test, .settled = test};
  out.claim.margin = {0, "nat/byte"};
  out.verdict = effect < 0 ? claims::Verdict::holds : claims::Verdict::fails;
  out.effect = effect;
  out.interval = {effect - 0.0625, effect + 0.0625};
  out.p = out.p_adjusted = 0.03125;
  out.p_against = 0.96875;
  out.seeds = 2, out.windows = 4;
  out.units = "nat/byte";
  return out;
}
}  // namespace

results::Group study_file(std::string const& name) {
  std::vector<std::int64_t> const lengths{256, 1024};
  results::Group out;
  out.set("schema", "sextant-results/1").set("creator", "sextant").set("creator_version", "0");
  out.set("study", name).set("title", "Made-up " + name).set("file_time", "2026-01-02T03:04:05Z");
  results::Group& provenance = out["provenance"];
  provenance.set("command_line", "/home/somebody/bin/sextant run --set=data.corpus=/home/somebody/a.txt");
  provenance["plugins"].put("name", std::vector<std::string>{"rope"}, "plugin");
  provenance["plugins"].put("origin", std::vector<std::string>{"/home/somebody/plugins/rope.so"}, "where from");
  results::ResultTable rows;
  for (std::string const encoding : {"rope", "alibi"})
    for (std::int64_t const seed : {11, 23}) {
      std::string const id = text(encoding, "-", seed);
      results::Group& run = out["runs"][id];
      run.set("status", "done").set("seed", seed).set("encoding", encoding).set("scaling", "none");
      run["config"].set("train.length", 256);
      double const shift = (encoding == "rope" ? 0.0 : 0.4321) + static_cast<double>(seed) / 1000;
      for (auto const length : lengths) {
        double const value = 1.23456789 + shift + std::log2(static_cast<double>(length)) / 7;
        rows.push_back(
            {name, id, seed, encoding, "none", "lm_loss", length, "mean", "loss", value, 0.01, 4, "nat/byte"});
      }
      results::Group& passkey = run["eval/passkey"];
      passkey.put("length", lengths, "token", "length");
      passkey.put("depth", std::vector<double>{0.25, 0.75}, "1", "depth");
      passkey.put("exact_by_depth", {2, 2}, std::vector<double>{1, 0.5, seed == 11 ? 0.25 : 0.75, 0}, "1", "exact")
          .along({"length", "depth"});
      passkey.put("exact_by_window", {2, 4}, std::vector<double>(8, 0.5), "1", "exact of each window");
      results::Group& needle = run["eval/needle"];  // as `sextant extend` lays it out
      needle.put("length", lengths, "token", "length");
      needle.put("depth", std::vector<double>{0.125, 0.5, 0.875}, "1", "depth");
      needle.put("loss", {3, 2}, std::vector<double>{1, 2, 3, 4, 5, 6}, "nat/token", "loss").along({"depth", "length"});
      results::Group& attention = run["eval/attention"];
      attention.put("length", lengths, "token", "length");
      attention.put("layer", std::vector<std::int64_t>{0, 1, 2}, "1", "layer");
      attention.put("head", std::vector<std::int64_t>{0, 1}, "1", "head");
      for (std::string const measure : {"entropy", "distance50", "distance95"}) {
        std::vector<double> values;
        for (int k = 0; k < 12; ++k) values.push_back(1 + k + shift + (measure == "distance95" ? 100 : 0));
        attention.put(measure + "_by_head", {2, 3, 2}, values, measure == "entropy" ? "nat" : "token", measure)
            .along({"length", "layer", "head"});
      }
    }
  out["summary/results"] = results::columns(rows);
  out["summary/claims"] =
      claims::to_group({0.05,
                        {claim(name + "-own", "", -0.25), claim("late", "000-16 (line 9)", -0.5),
                         claim("early", "000-6 (line 61)", 0.75), claim("twin", "000-16 (line 9)", 0.125)}});
  return results::summarised(out);
}

}  // namespace sextant::test
