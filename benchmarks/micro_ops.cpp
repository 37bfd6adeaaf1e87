// The ops that dominate a training step, one by one, with achieved GFLOP/s or GB/s.

#include <benchmark/benchmark.h>

#include "attn/cpu.hpp"
#include "workload.hpp"

using namespace attn;

using Device = Cpu<float>;

namespace {

std::vector<float> random_numbers(Index count) {
  Random random(1);
  std::vector<float> numbers(static_cast<std::size_t>(count));
  for (float& number : numbers) number = static_cast<float>(random.uniform(-1, 1));
  return numbers;
}

void count(benchmark::State& state, const char* what, double each) {
  state.counters[what] = benchmark::Counter(each * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void products(benchmark::State& state, const CpuOptions& options) {
  const Index rows = state.range(0), out = state.range(1), in = state.range(2);
  Device device(options);
  auto x = random_numbers(rows * in), weight = random_numbers(out * in), y = random_numbers(rows * out);
  if (options.int8_weights) device.weights().cache(weight.data(), out * in);
  for (auto _ : state)
    linear(device, {.x = Matrix<const float>{x.data(), rows, in},
                    .weight = Matrix<const float>{weight.data(), out, in},
                    .y = {y.data(), rows, out}});
  count(state, "FLOP/s", 2.0 * static_cast<double>(rows * out * in));
}

void linear_forward(benchmark::State& state) { products(state, {}); }
BENCHMARK(linear_forward)
    ->Args({2700, 256, 256})
    ->Args({2700, 1024, 256})
    ->Args({2700, 256, 1024})
    ->Args({64, 8000, 256})
    ->Args({8, 8000, 256});

void linear_int8_one_core(benchmark::State& state) { products(state, {.threads = 1, .int8_weights = true}); }
BENCHMARK(linear_int8_one_core)->Args({1, 2048, 512})->Args({8, 2048, 512})->Args({32, 2048, 512})->Args({64, 32000, 512});

void attention_forward(benchmark::State& state) {
  const Index width = 256, heads = 4;
  const std::vector<Index> of = lengths(2, 32, static_cast<double>(state.range(0)));
  std::vector<std::int32_t> offsets{0};
  double flop = 0;
  for (const Index length : of) {
    offsets.push_back(offsets.back() + static_cast<std::int32_t>(length));
    flop += 4.0 * static_cast<double>(length * length * width);
  }
  const Index rows = offsets.back();
  Device device;
  auto q = random_numbers(rows * width), k = random_numbers(rows * width), v = random_numbers(rows * width),
       y = random_numbers(rows * width);
  std::vector<float> lse(static_cast<std::size_t>(rows * heads));
  const Ragged ragged{offsets.data(), offsets.data() + 1, 32, rows, *std::max_element(of.begin(), of.end())};
  for (auto _ : state)
    attention(device, {.q = Matrix<const float>{q.data(), rows, width},
                       .k = Matrix<const float>{k.data(), rows, width},
                       .v = Matrix<const float>{v.data(), rows, width},
                       .queries = ragged,
                       .keys = ragged,
                       .heads = heads,
                       .scale = 0.125f,
                       .y = {y.data(), rows, width},
                       .lse = lse.data()});
  count(state, "FLOP/s", flop);
}
BENCHMARK(attention_forward)->Arg(31)->Arg(59);

void layer_norm_forward(benchmark::State& state) {
  const Index rows = 2700, width = 256;
  Device device;
  auto x = random_numbers(rows * width), s = random_numbers(rows * width), z = x, y = x, gain = random_numbers(width);
  std::vector<float> mean(static_cast<std::size_t>(rows)), inverse = mean;
  for (auto _ : state)
    layer_norm(device, {.x = Matrix<const float>{x.data(), rows, width},
                        .branch = Matrix<const float>{s.data(), rows, width},
                        .dropout = {0.1f, {1, 2}},
                        .gain = gain.data(),
                        .bias = gain.data(),
                        .z = {z.data(), rows, width},
                        .y = {y.data(), rows, width},
                        .mean = mean.data(),
                        .inverse_deviation = inverse.data()});
  count(state, "bytes/s", 4.0 * 4 * static_cast<double>(rows * width));
}
BENCHMARK(layer_norm_forward);

/// The recurrence without the input projection. Arguments: sentences, steps, width.
void lstm_forward_backward(benchmark::State& state) {
  const Index sentences = state.range(0), steps = state.range(1), width = state.range(2), rows = sentences * steps;
  std::vector<std::int32_t> offsets, order;
  for (Index i = 0; i <= sentences; ++i) offsets.push_back(static_cast<std::int32_t>(i * steps));
  for (Index i = 0; i < sentences; ++i) order.push_back(static_cast<std::int32_t>(i));
  Device device;
  auto gates = random_numbers(rows * 4 * width), dgates = gates, recurrent = random_numbers(4 * width * width);
  auto h = random_numbers(rows * width), c = h, previous = h;
  const LstmArgs<Device> args{.gates = {gates.data(), rows, 4 * width},
                              .rows = {offsets.data(), offsets.data() + 1, sentences, rows, steps},
                              .order = order.data(),
                              .recurrent = Matrix<const float>{recurrent.data(), 4 * width, width},
                              .h = {h.data(), rows, width},
                              .c = {c.data(), rows, width},
                              .previous = {previous.data(), rows, width}};
  for (auto _ : state) {
    lstm(device, args);
    lstm_gradient(device, {.forward = args, .dh = args.h, .dgates = {dgates.data(), rows, 4 * width}});
  }
  count(state, "FLOP/s", 2 * 2.0 * static_cast<double>(rows * 4 * width * width));
}
BENCHMARK(lstm_forward_backward)->Args({10, 13, 128})->Args({300, 20, 64})->Args({128, 30, 512});

void cross_entropy_with_gradient(benchmark::State& state) {
  const Index rows = 512, classes = 8000;
  Device device;
  const auto logits = random_numbers(rows * classes);
  auto work = logits;
  const std::vector<Token> labels(static_cast<std::size_t>(rows), 7);
  float sums[2] = {};
  for (auto _ : state)
    cross_entropy(device, {.logits = {work.data(), rows, classes},
                           .labels = labels.data(),
                           .amount = 0.1f,
                           .nll = sums,
                           .loss = sums + 1,
                           .dlogits = {{work.data(), rows, classes}}});
  count(state, "bytes/s", 2.0 * 4 * static_cast<double>(rows * classes));
}
BENCHMARK(cross_entropy_with_gradient);

void adam_step(benchmark::State& state) {
  const Index numbers = 10'000'000;
  Device device;
  auto value = random_numbers(numbers), gradient = random_numbers(numbers);
  std::vector<float> m(value.size()), v(value.size());
  Index step = 0;
  for (auto _ : state)
    adam(device, {.value = value.data(),
                  .gradient = gradient.data(),
                  .m = m.data(),
                  .v = v.data(),
                  .count = numbers,
                  .options = {},
                  .rate = 1e-3,
                  .step = ++step});
  count(state, "bytes/s", 8.0 * 4 * static_cast<double>(numbers));
}
BENCHMARK(adam_step);

}  // namespace

BENCHMARK_MAIN();
