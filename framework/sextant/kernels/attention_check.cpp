#include <sextant/base/error.hpp>
#include <sextant/kernels/attention_check.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::kernels::host {
namespace {
template <class V>
std::vector<std::size_t> shape(V const& view) {
  std::vector<std::size_t> extents;
  for (unsigned i = 0; i < static_cast<unsigned>(V::rank); ++i) extents.push_back(view.extent(i));
  return extents;
}

/// Refuses `view` unless its shape is `expected`; `why` names what set the expectation.
template <class V>
void expect_shape(char const* name, V const& view, std::vector<std::size_t> const& expected, std::string const& why) {
  expect(shape(view) == expected, "attention: ", name, " is ", shape(view), ", expected ", expected, " ", why);
}

template <class V>
void expect_rows(char const* name, V const& view) {
  expect(view.extent(3) < 2 || view.stride(3) == 1, "attention: ", name, "'s last axis has stride ", view.stride(3),
         ", expected 1");
}

void expect_documents(char const* name, View2<int> const& view, std::size_t batch, std::size_t length) {
  expect_shape(name, view, {batch, length}, "as [batch, length]");
}

void expect_positions(char const* name, View2<double> const& view, std::size_t batch, std::size_t length, bool needed) {
  if (!needed && view.size() == 0) return;
  bool const fits = (view.extent(0) == batch || view.extent(0) == 1) && view.extent(1) == length;
  expect(fits, "attention: ", name, " is ", shape(view), ", expected [", batch, " or 1, ", length, "]");
}

/// Branches 1, 2, ... share the shape of branch 0.
template <class T, class Like>
void expect_branches(char const* name, std::vector<Heads<T>> const& views, std::size_t count, Like const& like,
                     char const* like_name) {
  expect(views.size() == count, "attention: ", name, " holds ", views.size(), " branches, expected ", count,
         " as more_query");
  for (std::size_t n = 0; n < views.size(); ++n) {
    std::string const each = text(name, "[", n, "]");
    expect_shape(each.c_str(), views[n], shape(like), text("as ", like_name));
    expect_rows(each.c_str(), views[n]);
  }
}

template <class T>
void check_strips(AttentionInput<T> const& in) {
  std::size_t const more = in.more_query.size();
  expect_branches("more_query", in.more_query, more, in.query, "query");
  expect_branches("more_key", in.more_key, more, in.key, "key");
  expect(more < 127, "attention: more_query holds ", more, " branches, expected at most 126");
  expect(more == 0 || in.branch_rule, "attention: more_query holds ", more,
         " branches and branch_rule is null, expected a rule that says which one a pair takes");
  for (std::size_t n = 0; n < in.rows.size(); ++n)
    expect(in.rows[n], "attention: rows[", n, "] is null, expected a link");
  for (int h = 0; h < in.query.extent_int(1) && !in.rows.empty(); ++h) {
    int count = 0;
    for (auto const* link : in.rows) count += link->multiplies(h);
    expect(count <= 1, "attention: ", count, " links multiply for head ", h, ", expected one at most");
  }
}

template <class T>
void check(AttentionInput<T> const& in) {
  auto const q = shape(in.query), k = shape(in.key), v = shape(in.value);
  std::string const query = text("as query is ", q), key = text("as key is ", k);
  expect_shape("key", in.key, {q[0], k[1], k[2], q[3]}, text("in batch and head_dim ", query));
  expect_shape("value", in.value, {k[0], k[1], k[2], v[3]}, text("in batch, kv_heads and key_len ", key));
  expect(q[1] == 0 || (k[1] > 0 && q[1] % k[1] == 0), "attention: query is ", q, " and key is ", k,
         ", expected kv_heads ", k[1], " to divide heads ", q[1]);
  expect(q[3] > 0 && v[3] > 0, "attention: query is ", q, " and value is ", v, ", expected a last axis of 1 or more");
  expect_rows("query", in.query), expect_rows("key", in.key), expect_rows("value", in.value);
  expect(in.mask.window >= 0, "attention: window is ", in.mask.window, ", expected 0 (no limit) or more keys");
  expect(std::isfinite(in.scale), "attention: scale is ", in.scale, ", expected a finite number");
  bool const documents = in.mask.query_document.size() > 0 || in.mask.key_document.size() > 0;
  if (documents) {
    expect_documents("query_document", in.mask.query_document, q[0], q[2]);
    expect_documents("key_document", in.mask.key_document, q[0], k[2]);
  }
  expect(in.precision == Precision::fp32 || std::is_same_v<T, float>,
         "attention: precision is bf16 and the numbers are double, expected fp32 or floats");
  check_strips(in);
  bool const needed = !in.modifiers.empty() || !in.rows.empty() || in.branch_rule;
  expect_positions("query_position", in.query_position, q[0], q[2], needed);
  expect_positions("key_position", in.key_position, q[0], k[2], needed);
}

Positions positions(View2<double> const& view) {
  return {view.size() ? view.data() : nullptr, view.extent(0) > 1 ? static_cast<std::ptrdiff_t>(view.extent(1)) : 0};
}

}  // namespace

template <class T>
Problem<T> problem_of(AttentionInput<T> const& in, View3<T> const& log_sum_exp) {
  Problem<T> p;
  p.batch = in.query.extent_int(0), p.heads = in.query.extent_int(1), p.kv_heads = in.key.extent_int(1);
  p.query_len = in.query.extent_int(2), p.key_len = in.key.extent_int(2);
  p.head_dim = in.query.extent_int(3), p.value_dim = in.value.extent_int(3);
  p.query = rows_of(in.query), p.key = rows_of(in.key), p.value = rows_of(in.value);
  p.query_position = positions(in.query_position), p.key_position = positions(in.key_position);
  p.scale = static_cast<T>(in.scale != 0 ? in.scale : 1.0 / std::sqrt(static_cast<double>(p.head_dim)));
  p.mask.causal = in.mask.causal, p.mask.window = in.mask.window;
  if (in.mask.key_document.size() > 0 && in.mask.query_document.size() > 0)
    p.mask.query_document = in.mask.query_document.data(), p.mask.key_document = in.mask.key_document.data();
  p.modifiers = in.modifiers, p.links = in.rows, p.rule = in.branch_rule;
  for (auto* link : in.modifiers) p.tables.push_back(link->table());
  if (std::any_of(p.tables.begin(), p.tables.end(), [](auto const& table) { return !table.bias; })) p.tables.clear();
  p.branches = {{p.query, p.key}};
  for (std::size_t n = 0; n < in.more_query.size(); ++n)
    p.branches.push_back({rows_of(in.more_query[n]), rows_of(in.more_key[n])});
  p.log_sum_exp = log_sum_exp.data();
  p.precision = in.precision;
  return p;
}

template <class T>
void check_forward(AttentionInput<T> const& in, Heads<T> const& out, View3<T> const& log_sum_exp) {
  check(in);
  auto const q = shape(in.query);
  expect_shape("out", out, {q[0], q[1], q[2], in.value.extent(3)}, "as query and value set it");
  expect_rows("out", out);
  expect_shape("log_sum_exp", log_sum_exp, {q[0], q[1], q[2]}, "as query sets it");
}

template <class T>
void check_backward(AttentionInput<T> const& in, View3<T> const& log_sum_exp, Results<T> const& r) {
  check(in);
  auto const q = shape(in.query);
  std::vector<std::size_t> const result{q[0], q[1], q[2], in.value.extent(3)};
  expect_shape("out", r.out, result, "as query and value set it");
  expect_shape("grad_out", r.grad_out, result, "as query and value set it");
  expect_shape("log_sum_exp", log_sum_exp, {q[0], q[1], q[2]}, "as query sets it");
  expect_shape("grad_query", r.grad_query, q, "as query");
  expect_shape("grad_key", r.grad_key, shape(in.key), "as key");
  expect_shape("grad_value", r.grad_value, shape(in.value), "as value");
  expect_rows("out", r.out), expect_rows("grad_out", r.grad_out), expect_rows("grad_query", r.grad_query);
  expect_rows("grad_key", r.grad_key), expect_rows("grad_value", r.grad_value);
  expect_branches("grad_branches.query", r.branches.query, in.more_query.size(), in.query, "query");
  expect_branches("grad_branches.key", r.branches.key, in.more_query.size(), in.key, "key");
}

#define SEXTANT_INSTANTIATE(T)                                                             \
  template Problem<T> problem_of(AttentionInput<T> const&, View3<T> const&);               \
  template void check_forward(AttentionInput<T> const&, Heads<T> const&, View3<T> const&); \
  template void check_backward(AttentionInput<T> const&, View3<T> const&, Results<T> const&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::kernels::host
