#include <sextant/base/error.hpp>
#include <sextant/claims/expression.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace sextant::claims {
namespace {
bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Test test() {
    out_.sides.push_back(side());
    while (skip(), at_ < text_.size()) {
      std::size_t const at = at_;
      out_.relations.push_back(relation());
      out_.relation_text.push_back({std::string(text_.substr(at, at_ - at)), at});
      out_.sides.push_back(side());
    }
    if (out_.relations.empty()) fail_here("expected a relation: <, <=, ==, >= or >");
    check_direction();
    return std::move(out_);
  }

  Measured alone() {
    if (!letter(next())) fail_here("expected a quantity such as lm_loss.mean @ 1024 {encoding=rope}");
    quantity(word());
    if (next() != '\0') fail_here("expected one quantity and no more, as in lm_loss.mean @ 1024 {encoding=rope}");
    return std::move(out_.measured[0]);
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }
  char next() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  std::string found() const {
    if (at_ >= text_.size()) return "the end";
    std::size_t end = at_ + 1;
    while (letter(text_[at_]) && end < text_.size() && (letter(text_[end]) || digit(text_[end]))) ++end;
    return std::string(text_.substr(at_, end - at_));
  }
  [[noreturn]] void fail_here(std::string const& expected) {
    skip();
    throw Fault(at_, "found " + found() + ", " + expected);
  }
  void take(char c, char const* what) {
    if (next() != c) fail_here(std::string("expected ") + c + " " + what);
    ++at_;
  }

  Relation relation() {
    static constexpr std::pair<std::string_view, Relation> all[] = {{"<=", Relation::less_equal},
                                                                    {">=", Relation::greater_equal},
                                                                    {"==", Relation::equal},
                                                                    {"<", Relation::less},
                                                                    {">", Relation::greater}};
    skip();
    for (auto const& [word, meant] : all)
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return meant;
      }
    fail_here("expected a relation (<, <=, ==, >= or >) or an operator (+, -, * or /)");
  }

  Term joined(Term::Kind kind, std::size_t at, Term left, Term right) {
    Term out;
    out.kind = kind;
    out.at = at;
    out.parts.push_back(std::move(left));
    out.parts.push_back(std::move(right));
    return out;
  }
  Term side() {
    Term out = term();
    for (char c = next(); c == '+' || c == '-'; c = next()) {
      std::size_t const at = at_++;
      out = joined(c == '+' ? Term::Kind::add : Term::Kind::subtract, at, std::move(out), term());
    }
    return out;
  }
  Term term() {
    Term out = factor();
    for (char c = next(); c == '*' || c == '/'; c = next()) {
      std::size_t const at = at_++;
      out = joined(c == '*' ? Term::Kind::multiply : Term::Kind::divide, at, std::move(out), factor());
    }
    return out;
  }
  Term factor() {
    char const c = next();
    if (digit(c) || c == '.' || c == '-') return number();
    if (c == '(') return bracketed();
    if (!letter(c)) fail_here("expected a number or a quantity such as lm_loss.mean @ 1024 {encoding=rope}");
    Piece const name = word();
    if (next() != '(') return quantity(name);
    if (name.text != "exp") throw Fault(name.at, "found " + name.text + "(, expected exp(, the one function there is");
    Term out;
    out.kind = Term::Kind::exp;
    out.at = name.at;
    out.parts.push_back(bracketed());
    return out;
  }
  Term bracketed() {
    if (++depth_ > 50) fail_here("expected fewer than 50 parentheses inside one another");
    take('(', "");
    Term out = side();
    take(')', "to close the parenthesis");
    --depth_;
    return out;
  }
  Term number() {
    Term out;
    out.at = at_;
    auto const [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), out.number);
    if (error != std::errc() || !std::isfinite(out.number)) fail_here("expected a number");
    at_ = static_cast<std::size_t>(end - text_.data());
    return out;
  }

  // Letters, digits, _ and, inside, -.
  Piece word() {
    skip();
    std::size_t const at = at_;
    while (at_ < text_.size() && (letter(text_[at_]) || (at_ > at && (digit(text_[at_]) || text_[at_] == '-')))) ++at_;
    return {std::string(text_.substr(at, at_ - at)), at};
  }
  Term quantity(Piece const& probe) {
    Measured out;
    out.probe = probe;
    take('.', "and a measure, as in lm_loss.mean @ 1024");
    if (!letter(next())) fail_here("expected a measure, as in lm_loss.mean @ 1024");
    out.measure = word();
    take('@', "and a length, as in lm_loss.mean @ 1024");
    skip();
    out.length_at = at_;
    auto const [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), out.length);
    if (error != std::errc() || out.length < 1) fail_here("expected a length in tokens");
    at_ = static_cast<std::size_t>(end - text_.data());
    if (next() == '{') where(out);
    Term term;
    term.kind = Term::Kind::quantity;
    term.at = probe.at;
    term.index = out_.measured.size();
    out_.measured.push_back(std::move(out));
    return term;
  }
  void where(Measured& out) {
    do {
      ++at_;
      if (!letter(next())) fail_here("expected a dimension, as in {encoding=rope}");
      std::size_t const at = at_;
      while (at_ < text_.size() && (letter(text_[at_]) || digit(text_[at_]) || text_[at_] == '.')) ++at_;
      Piece const dimension{std::string(text_.substr(at, at_ - at)), at};
      take('=', "and a label, as in {encoding=rope}");
      for (auto const& known : out.where)
        if (known.dimension.text == dimension.text) throw Fault(at, dimension.text + " is given twice, expected once");
      out.where.push_back({dimension, label()});
    } while (next() == ',');
    take('}', "or a comma");
  }
  Piece label() {
    char const quote = next();
    if (quote == '"' || quote == '\'') {
      std::size_t const end = text_.find(quote, at_ + 1);
      if (end == std::string_view::npos) fail_here("expected a second quote that ends the label");
      Piece const out{std::string(text_.substr(at_ + 1, end - at_ - 1)), at_ + 1};
      at_ = end + 1;
      return out;
    }
    std::size_t const at = at_;
    for (int open = 0; at_ < text_.size(); ++at_) {
      char const c = text_[at_];
      if (open == 0 && (c == ',' || c == '}')) break;
      open += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    }
    std::size_t end = at_;
    while (end > at && (text_[end - 1] == ' ' || text_[end - 1] == '\n')) --end;
    if (end == at) fail_here("expected a label");
    return {std::string(text_.substr(at, end - at)), at};
  }

  void check_direction() {
    int way = 0;
    for (std::size_t i = 0; i < out_.relations.size(); ++i) {
      int const here = static_cast<int>(out_.relations[i]) - static_cast<int>(Relation::equal);
      if (here == 0) continue;
      if (way * here < 0)
        throw Fault(out_.relation_text[i].at,
                    "found " + out_.relation_text[i].text + " after a relation of the other way, expected one way");
      way = here;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Test out_;
};

std::string term_text(Term const& term, std::span<std::string const> measured, bool inside) {
  using enum Term::Kind;
  if (term.kind == number) return fmt::format("{}", term.number);
  if (term.kind == quantity) return measured[term.index];
  if (term.kind == exp) return "exp(" + term_text(term.parts[0], measured, false) + ")";
  char const* const sign = term.kind == add        ? " + "
                           : term.kind == subtract ? " - "
                           : term.kind == multiply ? " * "
                                                   : " / ";
  std::string const out = term_text(term.parts[0], measured, true) + sign + term_text(term.parts[1], measured, true);
  return inside ? "(" + out + ")" : out;
}
}  // namespace

std::string_view symbol(Relation relation) {
  static constexpr std::string_view all[] = {"<", "<=", "==", ">=", ">"};
  return all[static_cast<int>(relation)];
}

Test parse(std::string_view text) { return Parser(text).test(); }
Measured parse_measured(std::string_view text) { return Parser(text).alone(); }

double value_of(Term const& side, std::span<double const> measured) {
  using enum Term::Kind;
  auto const part = [&](std::size_t i) { return value_of(side.parts[i], measured); };
  switch (side.kind) {
    case number:
      return side.number;
    case quantity:
      return measured[side.index];
    case exp:
      return std::exp(part(0));
    case add:
      return part(0) + part(1);
    case subtract:
      return part(0) - part(1);
    case multiply:
      return part(0) * part(1);
    case divide:
      return part(0) / part(1);
  }
  return std::nan("");
}

std::string units_of(Term const& side, std::span<std::string const> measured) {
  using enum Term::Kind;
  if (side.kind == number) return "";
  if (side.kind == quantity) return measured[side.index];
  std::string const left = units_of(side.parts[0], measured);
  if (side.kind == exp) return "1";
  std::string const right = units_of(side.parts[1], measured);
  bool const constant = left.empty() || right.empty();
  if (side.kind == multiply || side.kind == divide) {
    if (side.kind == divide && left == right) return left.empty() ? "" : "1";
    bool const plain = right.empty() || right == "1";
    if (plain) return left.empty() ? right : left;
    if (side.kind == multiply && (left.empty() || left == "1")) return right;
    throw Fault(side.at, "joins " + (left.empty() ? "a number" : left) + " and " + right +
                             (side.kind == divide ? " to a ratio, expected equal units"
                                                  : " to a product, expected a plain number on one side"));
  }
  if (!constant && left != right) throw Fault(side.at, "joins " + left + " and " + right + ", expected equal units");
  return left.empty() ? right : left;
}

std::string write(Measured const& measured) {
  std::string out = text(measured.probe.text, ".", measured.measure.text, " @ ", measured.length);
  std::string where;
  for (auto const& [dimension, label] : measured.where) {
    bool const quoted = label.text.find_first_of("'\"{}[]=, ") != std::string::npos || label.text.empty();
    char const* const quote = !quoted ? "" : label.text.find('"') == std::string::npos ? "\"" : "'";
    where += (where.empty() ? "" : ", ") + dimension.text + "=" + quote + label.text + quote;
  }
  return where.empty() ? out : out + " {" + where + "}";
}

std::string write(Test const& test, std::span<std::string const> measured) {
  std::string out = term_text(test.sides[0], measured, false);
  for (std::size_t i = 0; i < test.relations.size(); ++i)
    out += text(" ", symbol(test.relations[i]), " ", term_text(test.sides[i + 1], measured, false));
  return out;
}

}  // namespace sextant::claims
