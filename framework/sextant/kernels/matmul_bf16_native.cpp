#include <sextant/base/error.hpp>
#include <sextant/kernels/matmul_bf16_native.hpp>
#include <sextant/kernels/simd_pairs.hpp>

#include <oneapi/dnnl/dnnl.hpp>

#include <map>
#include <tuple>

namespace sextant::kernels::blocks {
namespace {
using dnnl::memory;

/// Making a primitive takes 50 times as long as running a small one: every thread keeps those that it has made.
class Products {
 public:
  void run(Size n, Block<BFloat16 const> a, Op op_a, Block<BFloat16 const> b, Op op_b, Block<float> c, Into into) {
    Made& made = find(n, a.stride, op_a, b.stride, op_b, c.stride, into);
    made.a.set_data_handle(const_cast<BFloat16*>(a.data));
    made.b.set_data_handle(const_cast<BFloat16*>(b.data));
    made.c.set_data_handle(c.data);
    made.product.execute(stream_, {{DNNL_ARG_SRC, made.a}, {DNNL_ARG_WEIGHTS, made.b}, {DNNL_ARG_DST, made.c}});
    stream_.wait();
  }

 private:
  struct Made {
    dnnl::matmul product;
    memory a, b, c;
  };
  using Key = std::tuple<int, int, int, int, Op, int, Op, int, Into>;

  static memory::desc desc(int rows, int cols, memory::data_type type, int stride, Op op) {
    bool const plain = op == Op::plain;
    return {{rows, cols}, type, {plain ? stride : 1, plain ? 1 : stride}};
  }

  Made& find(Size n, int a_stride, Op op_a, int b_stride, Op op_b, int c_stride, Into into) {
    auto const [at, fresh] =
        made_.try_emplace(Key{n.rows, n.cols, n.terms, a_stride, op_a, b_stride, op_b, c_stride, into});
    if (!fresh) return at->second;
    auto const a = desc(n.rows, n.terms, memory::data_type::bf16, a_stride, op_a);
    auto const b = desc(n.terms, n.cols, memory::data_type::bf16, b_stride, op_b);
    auto const c = desc(n.rows, n.cols, memory::data_type::f32, c_stride, Op::plain);
    dnnl::primitive_attr attributes;
    if (into == Into::add) {
      dnnl::post_ops then;
      then.append_sum(1.0f);
      attributes.set_post_ops(then);
    }
#if DNNL_VERSION_MAJOR >= 3
    dnnl::matmul::primitive_desc const plan(engine_, a, b, c, attributes);
#else
    dnnl::matmul::primitive_desc const plan({a, b, c}, attributes, engine_);
#endif
    at->second = {dnnl::matmul(plan), memory(a, engine_, nullptr), memory(b, engine_, nullptr),
                  memory(c, engine_, nullptr)};
    return at->second;
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::map<Key, Made> made_;
};
}  // namespace

bool has_bf16() {
#if defined(__x86_64__)
  static bool const found = __builtin_cpu_supports("avx512bf16");
  return found;
#else
  return false;
#endif
}

void multiply_bf16(Size n, Block<BFloat16 const> a, Op op_a, Block<BFloat16 const> b, Op op_b, Block<float> c,
                   Into into) {
  expect(has_bf16(), "matmul: this CPU has no bf16 arithmetic");
  thread_local Products products;
  SingleThread const alone;
  products.run(n, a, op_a, b, op_b, c, into);
}

void round_to_bf16(Block<float const> x, int rows, int cols, BFloat16* to) {
  for (int i = 0; i < rows; ++i, to += cols) {
    float const* const from = x.data + static_cast<std::size_t>(i) * x.stride;
    int j = 0;
    if constexpr (simd::has_pairs)
      for (constexpr int W = simd::width<float>; j + 2 * W <= cols; j += 2 * W) {
        auto const pairs = simd::pairs_along(simd::load(from + j), simd::load(from + j + W));
        std::memcpy(static_cast<void*>(to + j), &pairs, sizeof pairs);
      }
    for (; j < cols; ++j) to[j] = to_bfloat16(from[j]);
  }
}

}  // namespace sextant::kernels::blocks
