#include <sextant/tasks/task_rows.hpp>

#include <algorithm>

namespace sextant::tasks {
namespace {
constexpr std::uint32_t attempts = 1000;
}  // namespace

encoding::Row TaskRows::training(std::uint64_t seed, std::uint64_t index) const {
  Stream const lengths(seed, "tasks/lengths"), examples(seed, "tasks/training");
  int const span = task_->longest() - task_->shortest() + 1;
  for (std::uint32_t attempt = 0; attempt < attempts; ++attempt) {
    int const length = task_->shortest() + static_cast<int>(lengths.below(span, attempt, index));
    encoding::Draw draw(examples, index, attempt);
    if (auto row = task_->example(length, draw); !belongs_to_tests(row)) return row;
  }
  fail(task_->description().name, " of lengths ", task_->shortest(), " to ", task_->longest(), ": ", attempts,
       " examples in a row belong to the tests; expected longer examples, or more symbols");
}

encoding::Row TaskRows::test(int length, std::uint64_t index, std::optional<double> depth) const {
  Stream const examples(static_cast<std::uint64_t>(length), "tasks/test");
  for (std::uint32_t attempt = 0; attempt < attempts; ++attempt) {
    encoding::Draw draw(examples, index, attempt, depth);
    if (auto row = task_->example(length, draw); belongs_to_tests(row)) return row;
  }
  fail(task_->description().name, " of length ", length, ": none of ", attempts,
       " examples is set aside for tests; expected longer examples, or more symbols");
}

void put_row(encoding::Row const& example, int r, View2<std::int32_t> const& tokens,
             View2<std::int32_t> const& targets) {
  int const count = static_cast<int>(example.tokens.size()), width = tokens.extent_int(1);
  expect(count <= width, "an example of ", count, " tokens does not fit in a row of ", width);
  for (int i = 0; i < width; ++i) {
    bool const asked = i + 1 < count && example.scored[static_cast<std::size_t>(i) + 1];
    tokens(r, i) = i < count ? example.tokens[static_cast<std::size_t>(i)] : 0;
    targets(r, i) = asked ? example.tokens[static_cast<std::size_t>(i) + 1] : -1;
  }
}

void put_positions(encoding::Row const& example, int r, View2<double> const& positions) {
  auto const& at = example.positions;
  expect(!at.empty() && at.size() == example.tokens.size(), "an example of ", example.tokens.size(), " tokens places ",
         at.size(), " of them, expected all");
  for (std::size_t i = 0; i < positions.extent(1); ++i) positions(r, i) = at[std::min(i, at.size() - 1)];
}

}  // namespace sextant::tasks
