// Two numbers of n decimal digits and their sum of n + 1.
//
//   begin a_1 ... a_n plus b_1 ... b_n ask s_0 ... s_n          most significant digit first, or last
//
// Source: Kazemnejad et al., "The Impact of Positional Encoding on Length Generalization in Transformers", arXiv:2305.19466.
#include <common/task.hpp>

#include <algorithm>

namespace sextant::plugins {
struct Addition : ByLengths {
  enum class Order { most_first, least_first } order = Order::most_first;
  static constexpr char const* summary = "two numbers, to be added digit by digit";
  static constexpr char const* formula = "begin a_1 ... a_n plus b_1 ... b_n ask s_0 ... s_n";
  static constexpr char const* length_means = "digits of each addend";
  static constexpr int plus = first_symbol + 10;

  static auto schema() {
    return task_schema<Addition>().choice("order", &Addition::order, "which digit is written first",
                                          {{"most_first", Order::most_first}, {"least_first", Order::least_first}});
  }
  static std::vector<Example> examples() {
    return {{{{"lengths", std::vector<double>{1, 8}}}, {}},
            {{{"lengths", std::vector<double>{2, 8}}, {"order", std::string("least_first")}}, {}}};
  }
  int vocabulary() const { return plus + 1; }
  int row_length(int length) const { return 3 * length + 4; }
  void fill(Draw& draw, int length, Row& row) const {
    auto a = draw_string(draw, length, 10), b = draw_string(draw, length, 10);  // least significant digit first
    std::vector<int> sum;
    int carry = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      int const digit = a[i] + b[i] + carry;
      sum.push_back(digit % 10);
      carry = digit / 10;
    }
    sum.push_back(carry);
    if (order == Order::most_first)
      for (auto* number : {&a, &b, &sum}) std::reverse(number->begin(), number->end());
    row.say(begin_token);
    say_all(row, a);
    row.say(plus);
    say_all(row, b);
    row.say(ask_token);
    answer_all(row, sum);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Addition, "addition", "arXiv:2305.19466")
