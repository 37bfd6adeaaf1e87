// Element-wise expressions on a GPU in bf16: the gated residual x + sigmoid(g) * f with a learned vector g, and SwiGLU's
// product silu(a) * b. Times in microseconds, median of 30 samples of 10 calls each. The last column is the time to read
// and write every matrix once at 4.3 TB/s, the achievable bandwidth of an H200. benchmarks/pytorch_elementwise.py measures
// PyTorch.
//
//   elementwise_cuda

#include <cstdio>

#include "attn/cuda.cuh"
#include "gpu_timing.cuh"

using namespace attn;
using namespace attn::functions;

namespace {

using Device = Cuda<bfloat16>;
using Dense = DenseLeaf<bfloat16>;
using Vector = RowLeaf<bfloat16, float>;
using GatedResidual = Apply<Add, Dense, Apply<Multiply, Apply<Sigmoid, Vector>, Dense>>;
using SwigluProduct = Apply<Multiply, Apply<Silu, Dense>, Dense>;

constexpr Index kRows = 22'528;
constexpr int kCalls = 10, kSamples = 30;

using Memory = Buffer<bfloat16, Device::Memory>;

Memory random_matrix(Device& device, Index count, std::uint64_t stream) {
  Random random(1, stream);
  std::vector<bfloat16> numbers(static_cast<std::size_t>(count));
  for (bfloat16& number : numbers) number = bfloat16(static_cast<float>(random.uniform(-2, 2)));
  Memory memory(device, count);
  device.upload(memory.data(), numbers.data(), count);
  return memory;
}

/// Forward, and forward with backward. Each reads two matrices and writes one; the backward pass reads three and writes two.
template <class E>
void measure(Device& device, const char* name, const E& expression, Matrix<bfloat16> y, Matrix<const bfloat16> dy) {
  StreamClock clock(device.stream());
  const auto forward = [&] { evaluate_expression(device, ExpressionArgs<Device, E>{expression, y}); };
  const auto both = [&] {
    forward();
    evaluate_expression_gradient(device, ExpressionGradientArgs<Device, E>{expression, dy});
  };
  const auto repeated = [](const auto& work) {
    return [&work] {
      for (int i = 0; i < kCalls; ++i) work();
    };
  };
  const auto seconds = clock.medians_in_turn(kSamples, {repeated(forward), repeated(both)});
  const double once = static_cast<double>(y.rows * y.cols) * sizeof(bfloat16) / 4.3e12;
  std::printf("| %s, %ld columns | %.1f / %.1f | %.0f / %.0f |\n", name, static_cast<long>(y.cols),
              1e6 * seconds[0] / kCalls, 1e6 * seconds[1] / kCalls, 3e6 * once, 8e6 * once);
}

}  // namespace

int main() {
  Device device;
  std::printf("%s, %ld rows, bf16, us, forward / forward + backward\n\n", device.description().c_str(),
              static_cast<long>(kRows));
  std::printf("| | attn | bytes once |\n| --- | --- | --- |\n");
  for (const Index cols : {512, 2048}) {
    const Index count = kRows * cols;
    const Memory x = random_matrix(device, count, 1), f = random_matrix(device, count, 2),
                 gate = random_matrix(device, cols, 3), dy = random_matrix(device, count, 4);
    const Memory y(device, count), dx(device, count), df(device, count);
    const Buffer<float, Device::Memory> dgate(device, cols);
    device.zero(dgate.data(), cols);
    const auto matrix = [&](const Memory& memory) { return Matrix<bfloat16>(memory.data(), kRows, cols); };
    const Dense left{matrix(x), Sink<bfloat16>{matrix(dx)}}, right{matrix(f), Sink<bfloat16>{matrix(df)}};
    const Vector learned{gate.data(), dgate.data()};
    const GatedResidual gated{
        {left, Apply<Multiply, Apply<Sigmoid, Vector>, Dense>{{Apply<Sigmoid, Vector>{{learned}}, right}}}};
    const SwigluProduct product{{Apply<Silu, Dense>{{left}}, right}};
    measure(device, "gated residual", gated, matrix(y), matrix(dy));
    measure(device, "SwiGLU's product", product, matrix(y), matrix(dy));
  }
}
