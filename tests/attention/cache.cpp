#include "attn/attention/multi_head.hpp"

#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

TEST_CASE("cache: step-by-step self-attention equals full self-attention even after a sentence ends") {
  D device;
  MultiHead<D, 8, 2, Full<>, Mask::causal> layer;
  Input<D, 8> input(6);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  Tape<D> tape(device);
  const auto x = input(tape);  // sentence 0: rows 0 and 1; sentence 1: rows 2 to 5
  const auto whole = layer(x, upload(tape, sentences({{1, 1}, {1, 1, 1, 1}})).rows);

  CacheLayout layout;
  layout.places = 2;
  layout.capacity = 4;
  KeyValueCache<D> cache(tape, layout, 8, 8);
  const std::int32_t offsets[] = {0, 1, 2};
  for (std::int32_t t = 0; t < 4; ++t) {
    const Index alive = t < 2 ? 2 : 1;
    const std::int32_t first = t < 2 ? 0 : 1;  // of the sentences alive
    const std::int32_t begin[] = {0, 4}, end[] = {t + 1, t + 5}, newest[] = {t, t + 4};
    layout.rows = {begin + first, end + first, alive, alive * (t + 1), t + 1};
    layout.newest = newest + first;
    auto words = tape.make(alive, 8);
    std::copy_n(x.value.row(t < 2 ? t : 2 + t), 8, words.value.row(0));
    if (alive == 2) std::copy_n(x.value.row(2 + t), 8, words.value.row(1));
    const auto y = layer(words, upload_offsets(tape, offsets, alive), &cache);
    CHECK(largest_difference(rows_of(y, alive - 1, 1), rows_of(whole, 2 + t, 1)) < 1e-14);
    if (alive == 2) CHECK(largest_difference(rows_of(y, 0, 1), rows_of(whole, t, 1)) < 1e-14);
  }
}

TEST_CASE("cache: rejects a tape that records") {
  D device;
  MultiHead<D, 8, 2, Full<>, Mask::causal> layer;
  Input<D, 8> input(1);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  Tape<D> tape(device, TapeMode::gradients());
  CacheLayout layout;
  layout.places = layout.capacity = 1;
  KeyValueCache<D> cache(tape, layout, 8, 8);
  const std::string said = complaint([&] { layer(input(tape), upload(tape, sentences({{1}})).rows, &cache); });
  CHECK(said.find("the tape records gradients") != std::string::npos);
}
