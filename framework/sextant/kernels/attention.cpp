// Chooses the kernel of a call and launches the host's tasks.
#include <sextant/kernels/attention_check.hpp>
#include <sextant/kernels/attention_team.hpp>

#include <atomic>
#include <exception>

namespace sextant::kernels {

struct AttentionWorkspace::Buffers {
  host::Block shared;
  std::vector<host::Block> own;
};

AttentionWorkspace::AttentionWorkspace() : buffers_(std::make_unique<Buffers>()) {}
AttentionWorkspace::~AttentionWorkspace() = default;
AttentionWorkspace::AttentionWorkspace(AttentionWorkspace&&) noexcept = default;
AttentionWorkspace& AttentionWorkspace::operator=(AttentionWorkspace&&) noexcept = default;

std::size_t AttentionWorkspace::bytes() const {
  std::size_t sum = buffers_->shared.bytes();
  for (auto const& block : buffers_->own) sum += block.bytes();
  return sum;
}

namespace {
/// One index a worker; each takes the next task until none is left, so the schedule is dynamic on every backend. Waits
/// for the end: tasks use what the caller holds.
host::Workshop workshop(HostExec const& exec, AttentionWorkspace::Buffers& buffers) {
  int const workers = exec.concurrency();
  if (buffers.own.size() < static_cast<std::size_t>(workers)) buffers.own.resize(static_cast<std::size_t>(workers));
  host::Tasks const run = [exec, workers](char const* label, std::int64_t tasks,
                                          std::function<void(int, std::int64_t)> const& body) {
    if (tasks <= 1) {
      for (std::int64_t task = 0; task < tasks; ++task) body(0, task);
      return;
    }
    std::atomic<std::int64_t> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr error;
    auto const* const each = &body;
    auto const work = [&, each](int worker) {
      try {
        for (std::int64_t task; !failed && (task = next++) < tasks;) (*each)(worker, task);
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
    };
    int const used = static_cast<int>(std::min<std::int64_t>(workers, tasks));
    Kokkos::parallel_for(label, Kokkos::RangePolicy<HostExec>(exec, 0, used), work);
    exec.fence();
    if (error) std::rethrow_exception(error);
  };
  return {run, &buffers.shared, &buffers.own};
}
}  // namespace

template <class T>
void attention_forward(Exec const& exec, AttentionInput<T> const& in, Heads<T> const& out, View3<T> const& log_sum_exp,
                       AttentionWorkspace& workspace) {
  host::check_forward(in, out, log_sum_exp);
  if (log_sum_exp.size() == 0) return;
  if (!on_host && team::takes(in)) return team::forward(exec, in, out, log_sum_exp);
  auto const p = host::problem_of(in, log_sum_exp);
  auto const shop = workshop(host_side(exec), workspace.buffers());
  if (p.strips())
    host::strip_forward(p, host::rows_of(out), shop);
  else if (p.query_len <= host::decode_rows)
    host::decode(p, host::rows_of(out), shop);
  else
    host::forward(p, host::rows_of(out), shop);
}

template <class T>
void attention_backward(Exec const& exec, AttentionInput<T> const& in, Heads<T const> const& out,
                        View3<T> const& log_sum_exp, Heads<T const> const& grad_out, Heads<T> const& grad_query,
                        Heads<T> const& grad_key, Heads<T> const& grad_value, AttentionWorkspace& workspace,
                        BranchGradients<T> const& grad_branches) {
  host::Results<T> const results{out, grad_out, grad_query, grad_key, grad_value, grad_branches};
  host::check_backward(in, log_sum_exp, results);
  if (in.query.extent(0) * in.key.extent(1) * (in.query.extent(2) + in.key.extent(2)) == 0) return;
  if (!on_host && team::takes(in))
    return team::backward(exec, in, out, log_sum_exp, grad_out, grad_query, grad_key, grad_value);
  auto const p = host::problem_of(in, log_sum_exp);
  auto const g = host::gradients_of(results);
  auto const shop = workshop(host_side(exec), workspace.buffers());
  p.strips() ? host::strip_backward(p, g, shop) : host::backward(p, g, shop);
}

#define SEXTANT_INSTANTIATE(T)                                                                                    \
  template void attention_forward(Exec const&, AttentionInput<T> const&, Heads<T> const&, View3<T> const&,        \
                                  AttentionWorkspace&);                                                           \
  template void attention_backward(Exec const&, AttentionInput<T> const&, Heads<T const> const&, View3<T> const&, \
                                   Heads<T const> const&, Heads<T> const&, Heads<T> const&, Heads<T> const&,      \
                                   AttentionWorkspace&, BranchGradients<T> const&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::kernels
