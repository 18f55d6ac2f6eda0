// A study file made by hand: arms, seeds and windows with values that a test chooses.
#pragma once
#include <sextant/claims/judge.hpp>
#include <sextant/results/study.hpp>

#include <functional>
#include <string>
#include <vector>

namespace sextant::test {

struct HandMade {
  std::vector<std::string> arms{"rope", "alibi"};
  std::vector<std::int64_t> seeds{11, 23, 47}, windows{100, 200, 300, 400, 500, 600};
  std::vector<std::int64_t> lengths{256, 1024};
  bool by_window = true;
  std::function<double(std::string const& arm, std::int64_t length, std::size_t seed, std::size_t window)> loss;
};

inline results::Group hand_made(HandMade const& study) {
  results::Group out;
  results::ResultTable rows;
  for (auto const& arm : study.arms)
    for (std::size_t s = 0; s < study.seeds.size(); ++s) {
      std::string const id = text(arm, "-", study.seeds[s]);
      auto& run = out["runs"][id];
      run.set("encoding", arm).set("scaling", "none").set("seed", study.seeds[s]);
      auto& eval = run["eval"]["lm_loss"];
      eval.put("length", study.lengths, "token", "length");
      std::vector<double> all;
      for (auto const length : study.lengths) {
        double sum = 0;
        for (std::size_t w = 0; w < study.windows.size(); ++w) {
          all.push_back(study.loss(arm, length, s, w));
          sum += all.back();
        }
        rows.push_back({.study = "made up",
                        .run = id,
                        .seed = study.seeds[s],
                        .encoding = arm,
                        .probe = "lm_loss",
                        .length = length,
                        .region = "mean",
                        .metric = "loss",
                        .value = sum / static_cast<double>(study.windows.size()),
                        .n = 1,
                        .units = "nat/token"});
      }
      if (!study.by_window) continue;
      eval.put("window", study.windows, "token", "end of each window");
      eval.put("mean_by_window", {study.lengths.size(), study.windows.size()}, all, "nat/token", "mean of each window")
          .along({"length", "window"});
    }
  out["summary"]["results"] = results::columns(rows);
  return out;
}

/// "lm_loss.mean @ LENGTH" of an arm.
inline std::string loss_of(std::string const& arm, int length = 1024) {
  return text("lm_loss.mean @ ", length, " {encoding=", arm, ", scaling=none}");
}

inline claims::Claim claim(std::string const& test, double margin = 0, std::string const& units = "nat/token",
                           claims::By by = claims::By::paired_bootstrap) {
  return {.id = "c", .says = test, .test = test, .settled = test, .margin = {margin, units}, .by = by};
}

}  // namespace sextant::test
