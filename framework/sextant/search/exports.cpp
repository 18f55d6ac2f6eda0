#include <sextant/base/error.hpp>
#include <sextant/search/exports.hpp>

namespace sextant::search {
namespace {
dialect::Form form_of(Task const& task, Row const& winner, std::string const& architecture) {
  auto const& trained = task.subject.position;
  expect(trained.encodings.size() == 1, trained.encodings.size(),
         " encodings act in the model, and no other dialect says more than a rotation");
  encoding::PositionChoice const whole = dialect::completed({trained.encodings, {}, 0}, task.registry);
  dialect::Form out;
  out.kinds = {{"", whole.encodings.front(), {winner.scaling}}};
  out.trained_length = trained.trained_length;
  out.reach = task.target;
  out.head_width = task.subject.network->config().head_dim;
  out.architecture = architecture;
  return dialect::canonical(std::move(out), task.registry);
}
}  // namespace

std::vector<Export> exports_of(Task const& task, Row const& winner, std::string const& architecture) {
  std::vector<Export> out{{"sextant", "winner.yaml", "", "", {}},
                          {"hf", "winner.config.json", "", "", {}},
                          {"gguf", "winner.gguf.txt", "", "", {}}};
  for (auto& one : out) {
    try {
      auto written = dialect::dialect(one.dialect).write(form_of(task, winner, architecture), task.registry);
      one.text = std::move(written.text), one.remarks = std::move(written.remarks);
    } catch (Error const& error) {
      one.why_not = error.what();
    }
  }
  return out;
}

}  // namespace sextant::search
