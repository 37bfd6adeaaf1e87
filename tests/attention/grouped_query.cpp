#include "attn/attention/multi_head.hpp"
#include "support/generation.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr Index kWidth = 8, kHeads = 4, kHeadWidth = kWidth / kHeads;
const Sentences texts = sentences({{1, 1, 1}, {}, {1}, {1, 1, 1, 1, 1}});

AttentionShape attention_shape(int key_value_heads) {
  return {.width = kWidth, .heads = kHeads, .key_value_heads = key_value_heads};
}

/// Rows of keys and values, repeated for each head that shares them: the weights of ordinary multi-head attention.
std::vector<double> repeated(const std::vector<double>& grouped, Index columns, Index key_value_heads) {
  std::vector<double> all(grouped.begin(), grouped.begin() + kWidth * columns);  // queries
  for (const Index part : {0, 1})
    for (Index head = 0; head < kHeads; ++head) {
      const Index row = kWidth + (part * key_value_heads + head * key_value_heads / kHeads) * kHeadWidth;
      all.insert(all.end(), grouped.begin() + row * columns, grouped.begin() + (row + kHeadWidth) * columns);
    }
  return all;
}

/// A language model whose heads share keys and values.
TransformerShape shape_of(int key_value_heads) {
  return {
      .encoder_layers = 1, .decoder_layers = 2, .width = 8, .heads = 4, .inner = 12, .key_value_heads = key_value_heads};
}

}  // namespace

TEST_CASE("grouped-query attention: gradients of self-attention and cross-attention match finite differences") {
  for (const int key_value_heads : {1, 2}) {
    D device;
    MultiHead<D, dynamic, dynamic, Full<>, Mask::causal> self(attention_shape(key_value_heads), 0.3f);
    MultiHead<D> cross(attention_shape(key_value_heads));
    Input<D, kWidth> input(9), memory(8);
    Together model(self, cross, input, memory);
    Parameters<D> parameters(device, model, 1);
    shake(parameters);
    const auto loss = [&](Tape<D>& tape) {
      const Ragged rows = upload(tape, texts).rows;
      const auto remembered = cross.remember(memory(tape), upload(tape, sentences({{1, 1}, {1}, {1, 1, 1, 1}, {1}})).rows);
      return mixture<D>(tape, cross(self(input(tape), rows), rows, remembered));
    };
    check_gradients(parameters, loss);
    check_gradients(parameters, loss, TapeMode::training(1, 1));
  }
}

TEST_CASE("grouped-query attention: repeated weights give ordinary multi-head attention") {
  for (const int key_value_heads : {1, 2}) {
    CAPTURE(key_value_heads);
    D device;
    MultiHead<D> grouped(attention_shape(key_value_heads)), ordinary(attention_shape(0));
    Input<D, kWidth> input(9);
    Together model(grouped, ordinary, input);
    Parameters<D> parameters(device, model, 1);
    shake(parameters);
    CHECK(parameters.find("0.in.weight").rows == kWidth + 2 * key_value_heads * kHeadWidth);
    const auto read = [&](const char* name) { return parameters.read(parameters.find(name)); };
    const auto write = [&](const char* name, const auto& numbers) { parameters.write(parameters.find(name), numbers); };
    write("1.in.weight", repeated(read("0.in.weight"), kWidth, key_value_heads));
    write("1.in.bias", repeated(read("0.in.bias"), 1, key_value_heads));
    write("1.out.weight", read("0.out.weight"));
    write("1.out.bias", read("0.out.bias"));
    Tape<D> tape(device);
    const Ragged rows = upload(tape, texts).rows;
    const Variable<D> x = input(tape);
    CHECK(largest_difference(rows_of<D>(grouped(x, rows)), rows_of<D>(ordinary(x, rows))) < 1e-14);
    CHECK(largest_difference(rows_of<D>(grouped(x, rows, grouped.remember(x, rows))),
                             rows_of<D>(ordinary(x, rows, ordinary.remember(x, rows)))) < 1e-14);
  }
}

TEST_CASE("grouped-query attention: equals multi-head attention if the numbers of heads are equal") {
  D device;
  MultiHead<D> one(attention_shape(0)), other(attention_shape(4));
  Input<D, kWidth> input(9);
  Together model(one, other, input);
  Parameters<D> parameters(device, model, 1);
  CHECK(parameters.find("0.in.weight").size() == parameters.find("1.in.weight").size());
  for (const char* name : {"in.weight", "in.bias", "out.weight", "out.bias"})
    parameters.write(parameters.find(std::string("1.") + name), parameters.read(parameters.find(std::string("0.") + name)));
  Tape<D> tape(device);
  const Ragged rows = upload(tape, texts).rows;
  const Variable<D> x = input(tape);
  CHECK(rows_of<D>(one(x, rows)) == rows_of<D>(other(x, rows)));
}

TEST_CASE("grouped-query attention: cached generation equals generation from scratch") {
  for (const int key_value_heads : {1, 2}) check_generation<LanguageModel<D>>(shape_of(key_value_heads));
}

TEST_CASE("grouped-query attention: an error names both numbers of heads if they do not divide") {
  CHECK(complaint([] {
          MultiHead<D> layer(attention_shape(3));
        }).find("4 heads are not a multiple of 3 heads of keys and values") != std::string::npos);
  CHECK(complaint([] { MultiHead<D> layer(attention_shape(8)); }).find("4 heads are not a multiple of 8 heads") !=
        std::string::npos);
}
