// passkey: five digits told somewhere in a window of the test text and asked for at its end, for models of bytes.
#include <sextant/base/error.hpp>
#include <sextant/run/probe.hpp>
#include <sextant/tasks/passkey.hpp>

#include <algorithm>

namespace sextant::run {
namespace {
std::vector<std::int32_t> bytes_of(std::string const& words) {
  std::vector<std::int32_t> out;
  for (char const c : words) out.push_back(static_cast<unsigned char>(c));
  return out;
}
int key_of(int trial, std::uint64_t which) {
  return 10000 + static_cast<int>(Stream(which, "passkey").below(90000, static_cast<std::uint64_t>(trial)));
}

struct Answer {
  bool right = true;
  double loss = 0;  ///< nat/token, of its digits
};

/// What the model makes of the last `digits` tokens of a text; whether they are right only where `judged`.
Answer read(Probing const& p, std::vector<std::int32_t> const& text, int digits, int trial, bool judged) {
  int const length = static_cast<int>(text.size()) - 1;
  model::Batch batch{View2<int>("tokens", 1, length), View2<int>("targets", 1, length), {}, {}};
  for (int i = 0; i < length; ++i) {
    batch.tokens(0, i) = text[static_cast<std::size_t>(i)];
    batch.targets(0, i) = i >= length - digits ? text[static_cast<std::size_t>(i) + 1] : -1;
  }
  batch.positions = evaluation_positions(p.network, trial, 1, length);
  Answer out;
  View2<double> const nll("nll", 1, length);
  p.network.loss_per_token(p.exec, batch, nll);
  p.exec.fence();
  for (int n = 0; n < digits; ++n) out.loss += nll(0, length - digits + n) / digits;
  if (!judged) return out;
  View2<float> const logits("logits", digits, p.network.config().vocabulary);
  p.network.logits(p.exec, batch, logits);
  p.exec.fence();
  for (int n = 0; n < digits; ++n) {
    float const* const row = &logits(n, 0);
    out.right =
        out.right && row[batch.targets(0, length - digits + n)] == *std::max_element(row, row + logits.extent(1));
  }
  return out;
}
}  // namespace

results::Group measure_passkey(Probing const& p) {
  auto const& wanted = p.stage.evaluation;
  auto const windows = test_windows(p);
  auto const asked = bytes_of(tasks::passkey_asked());
  int const digits = 5, length = p.stage.row;
  int const around = static_cast<int>(bytes_of(tasks::passkey_told(10000)).size() + asked.size()) + 1 + digits;
  expect(length >= around + 2, wanted.name, ": a passkey takes ", around, " bytes, and a window has ", length,
         "; expected longer windows");
  std::vector<double> exact, gain;
  each_window(p, windows, "while looking for passkeys; finished stages are kept", [&](auto tokens, int trial) {
    auto const hay = tokens.first(static_cast<std::size_t>(length + 1 - around));
    int const key = key_of(trial, 1), other = key_of(trial, 2);
    auto const text_telling = [&](int told) {
      return tasks::hide(hay, depth_of(trial), bytes_of(tasks::passkey_told(told)), asked,
                         bytes_of(tasks::passkey_answer(key)));
    };
    Answer const found = read(p, text_telling(key), digits, trial, true),
                 missed = read(p, text_telling(other), digits, trial, false);
    exact.push_back(found.right);
    gain.push_back(missed.loss - found.loss);
  });
  ProbeRecord record(p, windows.ends(), "end of each window in the test text");
  put_depths(record.eval(), "share of the text before the digits are told");
  if (wanted.keeps("exact")) {
    record.keep("exact", exact, windows.count());
    put_by_depth(record.eval(), "exact", exact, "1", "the digits were told");
  }
  if (wanted.keeps("gain")) {
    record.keep("gain", gain, std::int64_t{windows.count()} * digits);
    put_by_depth(record.eval(), "gain", gain, "nat/token", "the digits were told");
  }
  return record.finish();
}

}  // namespace sextant::run
