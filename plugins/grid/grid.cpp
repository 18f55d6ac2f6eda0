// A square of cells in raster order. In each line some cells are asked: behind such a cell stands the symbol of an earlier one.
//
//   x(0,0) x(1,0) ... x(0,1) x(1,1) [x(1,0)] x(2,1) ...         relation above, with x(1,1) asked
//
//   above    the cell `steps` lines up in the same column
//   knight   the cell one column to the right and two lines up
//   column   the top of the column; below the top line all cells are blank
//   row      the one cell of the line that is not blank, for cells to its right
//
// A cell and its answer stand at one position, y canvas + x, so that an encoding reads the point (x, y) whatever was answered
// before. There is no begin token: the first cell is the point (0, 0). Symbols of cells, blank among them, and symbols of
// answers are different tokens. With one cell asked a line, answers do not follow each other as cells of a line do, and no
// earlier answer tells the next.
//
// Source: framework definition.
#include <common/task.hpp>

#include <algorithm>
#include <optional>

namespace sextant::plugins {
enum class Relation { above, knight, column, row };

struct Grid : ByLengths {
  Relation relation = Relation::above;
  int steps = 1, asked = 1, alphabet = 16;
  std::optional<int> canvas;

  static constexpr char const* summary =
      "a square of symbols, asked what stands above, a knight's move away, or in a column";
  static constexpr char const* formula = "x(0,0) x(1,0) ... x(0,1) x(1,1) [x(1,0)] x(2,1) ...";
  static constexpr char const* length_means = "cells of a side";
  static constexpr int blank = first_symbol, first_cell = blank + 1;

  static auto schema() {
    return task_schema<Grid>()
        .choice("relation", &Grid::relation, "the cell whose symbol is the answer",
                {{"above", Relation::above},
                 {"knight", Relation::knight},
                 {"column", Relation::column},
                 {"row", Relation::row}})
        .option("steps", &Grid::steps, "above: lines up", at_least(1))
        .option("asked", &Grid::asked, "cells of a line that are asked, or all that can be", at_least(1))
        .option("alphabet", &Grid::alphabet, "different symbols", at_least(2))
        .option("canvas", &Grid::canvas, "cells of a line of positions: (x, y) stands at y canvas + x", at_least(1),
                MayBeAuto{"those of a side"});
  }
  static std::vector<Example> examples() {
    auto const of = [](char const* asks, double shortest, Options more = {}) {
      more["relation"] = std::string(asks);
      more["lengths"] = std::vector<double>{shortest, 7};
      return Example{more, {}};
    };
    return {of("above", 3, {{"steps", std::int64_t{2}}}), of("knight", 3, {{"asked", std::int64_t{9}}}),
            of("column", 2, {{"canvas", std::int64_t{9}}}), of("row", 2)};
  }

  int vocabulary() const { return first_cell + 2 * alphabet; }
  int row_length(int side) const {
    bool const whole_line = relation == Relation::above || relation == Relation::column;
    return side * side + (side - lines_before()) * std::min(asked, whole_line ? side : side - 1);
  }
  int reach(int side) const { return (side - 1) * width(side) + side; }
  void check(int side) const {
    expect(steps == 1 || relation == Relation::above, "grid.steps is for relation above");
    expect(width(side) >= side, "a side of ", side, " cells does not fit in a canvas of ", width(side),
           "; expected a wider canvas, or shorter lengths");
    int const least = std::max(2, lines_before() + 1);
    expect(side >= least, "a side of ", side, " cells has nothing to ask, expected at least ", least);
  }

  void fill(Draw& draw, int side, Row& row) const {
    auto const cells = draw_cells(draw, side);
    for (int y = 0; y < side; ++y) {
      auto const line = answers(cells, side, y);
      auto const chosen = choose(draw, line);
      for (int x = 0; x < side; ++x) {
        int const symbol = cells[y * side + x];
        row.stand(y * width(side) + x);
        row.say(symbol == none ? blank : first_cell + symbol);
        if (chosen[x]) row.answer(first_cell + alphabet + line[x]);
      }
    }
  }

 private:
  static constexpr int none = -1;

  int width(int side) const { return canvas.value_or(side); }
  /// Lines at the top that have nothing to ask.
  int lines_before() const {
    switch (relation) {
      case Relation::above:
        return steps;
      case Relation::knight:
        return 2;
      case Relation::column:
        return 1;
      case Relation::row:
        break;
    }
    return 0;
  }

  /// Symbols, or `none`, line by line.
  std::vector<int> draw_cells(Draw& draw, int side) const {
    std::vector<int> cells(side * side, none);
    if (relation == Relation::row) {
      for (int y = 0; y < side; ++y) {
        int const x = draw.below(side - 1);
        cells[y * side + x] = draw.below(alphabet);
      }
      return cells;
    }
    int const filled = relation == Relation::column ? side : side * side;
    for (int n = 0; n < filled; ++n) cells[n] = draw.below(alphabet);
    return cells;
  }

  /// What each cell of a line is answered with if it is asked; `none` where it cannot be.
  std::vector<int> answers(std::vector<int> const& cells, int side, int y) const {
    auto const at = [&](int x, int line) { return x < side && line >= 0 ? cells[line * side + x] : none; };
    std::vector<int> out(side, none);
    for (int x = 0; x < side; ++x) switch (relation) {
        case Relation::above:
          out[x] = at(x, y - steps);
          break;
        case Relation::knight:
          out[x] = at(x + 1, y - 2);
          break;
        case Relation::column:
          out[x] = y > 0 ? at(x, 0) : none;
          break;
        case Relation::row:
          for (int before = 0; before < x; ++before) out[x] = std::max(out[x], at(before, y));
          break;
      }
    return out;
  }

  /// `asked` of the cells that have an answer, each as likely.
  std::vector<bool> choose(Draw& draw, std::vector<int> const& line) const {
    std::vector<int> able;
    for (std::size_t x = 0; x < line.size(); ++x)
      if (line[x] != none) able.push_back(static_cast<int>(x));
    std::vector<bool> out(line.size());
    int const count = static_cast<int>(able.size());
    for (int const n : draw.distinct(std::min(asked, count), count)) out[able[n]] = true;
    return out;
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Grid, "grid", "framework definition")
