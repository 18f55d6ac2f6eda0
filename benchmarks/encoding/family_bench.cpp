// Attention under an encoding of every family, through the Binding that a model goes through: gates, features and turns, then
// attention; with backward also the gradients of what the encoding trains.
//
//   sextant_bench --benchmark_filter=family      counters: GFLOP/s of plain attention's arithmetic (2 L^2 D a head forward, 3.5
//                                                times that with backward): what an encoding adds shows as a lower rate
#include <benchmark/benchmark.h>
#include <sextant/base/error.hpp>
#include <sextant/encoding/binding.hpp>

#include <memory>

namespace sextant {
namespace {
using namespace encoding;

struct Size {
  int batch, heads, length, dim;
  int width() const { return heads * dim; }
};

View2<float> random(std::string const& name, int rows, int cols) {
  View2<float> const x(name, static_cast<std::size_t>(rows), static_cast<std::size_t>(cols));
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = 0.001f * static_cast<float>((i * 2654435761u >> 7) % 2000) - 1;
  return x;
}

/// One layer's attention under one encoding.
class Layer {
 public:
  Layer(std::string const& use, Size const& size)
      : size_(size),
        binding_(position_of(use, size), 1),
        x_(random("x", rows(), size.width())),
        grad_x_(random("grad x", rows(), size.width())) {
    for (auto* array : {&q_, &k_, &v_, &out_, &grad_out_, &grad_q_, &grad_k_, &grad_v_})
      *array = random("heads", rows(), size.width());
    std::vector<View1<float>> weights, gradients;
    for (auto const& slot : binding_.slots()) {
      weights.emplace_back("weight", slot.parameter->info.size());
      gradients.emplace_back("gradient", slot.parameter->info.size());
      Stream const stream(1, slot.name);
      for (std::size_t i = 0; i < weights.back().size(); ++i) weights.back()(i) = float(slot.initial(stream, i));
    }
    binding_.attach(weights, gradients);
    View2<double> const position("position", 1, static_cast<std::size_t>(size.length));
    for (int i = 0; i < size.length; ++i) position(0, i) = i;
    binding_.begin(Exec(), {size.batch, 0, size.length, position, {}});
    binding_.reserve(state_, 0, size.batch, size.length);
    log_sum_exp_ = View3<float>("log_sum_exp", size.batch, size.heads, size.length);
  }

  void forward() {
    encoded_ = binding_.encode(Exec(), 0, x_, heads(q_), heads(k_), state_);
    connect(false);
    kernels::attention_forward<float>(Exec(), in_, heads(out_), log_sum_exp_, workspace_);
  }
  void backward() {
    connect(true);
    auto const grads = binding_.gradients(0, heads(grad_q_), heads(grad_k_));
    kernels::BranchGradients<float> const further{{grads.query.begin() + 1, grads.query.end()},
                                                  {grads.key.begin() + 1, grads.key.end()}};
    kernels::attention_backward<float>(Exec(), in_, heads(out_), log_sum_exp_, heads(grad_out_), grads.query.front(),
                                       grads.key.front(), heads(grad_v_), workspace_, further);
    binding_.encode_backward(Exec(), 0, x_, heads(q_), heads(k_), grads, heads(grad_q_), heads(grad_k_), grad_x_,
                             state_);
  }
  double forward_flop() const {
    return 2.0 * size_.batch * size_.heads * double(size_.length) * size_.length * size_.dim;
  }

 private:
  static std::shared_ptr<Position const> position_of(std::string const& use, Size const& size) {
    Shape shape;
    shape.heads = shape.kv_heads = size.heads;
    shape.head_dim = size.dim;
    shape.model_dim = size.width();
    return std::make_shared<Position const>(PositionChoice{{{use, {}, {}}}, {}, size.length}, Registry::global(),
                                            shape);
  }
  int rows() const { return size_.batch * size_.length; }
  Heads<float> heads(View2<float> const& x) const {
    return as_heads(x.data(), size_.batch, size_.heads, size_.length, size_.dim);
  }
  void connect(bool gradient) {
    binding_.connect(Exec(), 0, encoded_.query, {encoded_.key.begin(), encoded_.key.end()}, state_, gradient, in_);
    in_.value = heads(v_);
  }

  Size size_;
  Binding<float> binding_;
  View2<float> x_, grad_x_, q_, k_, v_, out_, grad_out_, grad_q_, grad_k_, grad_v_;
  View3<float> log_sum_exp_;
  TokenState<float> state_;
  Encoded<float> encoded_;
  kernels::AttentionInput<float> in_;
  kernels::AttentionWorkspace workspace_;
};

void family(benchmark::State& state, std::string const& use, bool with_backward) {
  Size const size{int(state.range(0)), int(state.range(1)), int(state.range(2)), int(state.range(3))};
  try {
    Layer layer(use, size);
    auto const run = [&] {
      layer.forward();
      if (with_backward) layer.backward();
    };
    run();
    for (auto _ : state) run();
    double const flop = layer.forward_flop() * (with_backward ? 3.5 : 1.0) * static_cast<double>(state.iterations());
    state.counters["GFLOP/s"] = benchmark::Counter(flop * 1e-9, benchmark::Counter::kIsRate);
  } catch (Error const& error) {
    state.SkipWithError(error.what());
  }
}
}  // namespace

/// nope; a static table (alibi, t5); features of a token (fox); a formula a pair (kerple); a scan of the row (cope); two
/// branches (rerope); a product along the path (path).
void register_families() {
  for (char const* use : {"nope", "rope", "alibi", "t5", "fox", "kerple", "cope", "rerope", "path"})
    for (bool const with_backward : {false, true}) {
      std::string const name = std::string("family/") + (with_backward ? "forward+backward/" : "forward/") + use;
      auto* const bench = benchmark::RegisterBenchmark(
          name.c_str(), [=](benchmark::State& state) { family(state, use, with_backward); });
      bench->ArgNames({"B", "H", "L", "D"})->Unit(benchmark::kMillisecond)->UseRealTime();
      bench->Args({16, 4, 512, 64})->Args({1, 8, 4096, 64});
    }
}

}  // namespace sextant
