// A sentence alone and the same sentence in a batch: the same hidden states.

#include "support/model_tools.hpp"

using namespace attn_test;

namespace {

constexpr TransformerShape shape{.encoder_layers = 2, .decoder_layers = 2, .width = 48, .heads = 4, .inner = 80};

template <class T>
double largest(const std::vector<T>& numbers) {
  T most = 0;
  for (const T number : numbers) most = std::max(most, std::abs(number));
  return static_cast<double>(most);
}

template <class Device, class Attention, class Norm>
void check_alone_and_together() {
  Device device;
  Transformer<Device, shape, Attention, Norm> model({.source_vocabulary = 50, .target_vocabulary = 60});
  Parameters<Device> parameters(device, model, 1);
  const Sentences source = random_sentences({5, 1, 0, 70, 13, 28}, 50, 1),
                  target = random_sentences({7, 3, 4, 66, 1, 30}, 60, 2);
  const double bound = std::is_same_v<typename Device::Real, double> ? 1e-12 : 1e-6;  // of the largest number
  const auto run = [&](const Sentences& from, const Sentences& to, auto&& check) {
    Tape<Device> tape(device);
    const Text text = upload(tape, from);
    const auto memory = model.encode(tape, text);
    check(memory, model.decode(tape, upload(tape, to), memory, text.rows));
  };
  run(source, target, [&](auto memory, auto hidden) {
    for (Index i = 0; i < source.size(); ++i) {
      Sentences from, to;
      from.push_back(source[i]);
      to.push_back(target[i]);
      const auto memory_rows = rows_of(memory, source.offsets[static_cast<std::size_t>(i)], source.length(i));
      const auto hidden_rows = rows_of(hidden, target.offsets[static_cast<std::size_t>(i)], target.length(i));
      run(from, to, [&](auto memory_alone, auto hidden_alone) {
        CHECK(largest_difference(rows_of(memory_alone), memory_rows) <= bound * largest(memory_rows));
        CHECK(largest_difference(rows_of(hidden_alone), hidden_rows) <= bound * largest(hidden_rows));
      });
    }
  });
}

}  // namespace

TEST_CASE_TEMPLATE("batch invariance: hidden states of a sentence do not depend on the others", Device, Cpu<double>,
                   Cpu<float>) {
  check_alone_and_together<Device, Full<>, PostNorm>();
  check_alone_and_together<Device, Full<>, PreNorm>();
  check_alone_and_together<Device, Linformer<8, 70>, PostNorm>();
  check_alone_and_together<Device, Linformer<8, 70, Sharing::none>, PostNorm>();
}
