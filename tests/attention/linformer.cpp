#include "attn/attention/linformer.hpp"

#include <set>

#include "attn/attention/multi_head.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

const Sentences queries = sentences({{1, 1, 1}, {}, {1}, {1, 1, 1, 1}, {1, 1}});
const Sentences keys = sentences({{1, 1}, {1}, {1, 1, 1, 1, 1}, {1}, {}});

template <class Layer>
std::set<std::string> names_of(Layer& layer) {
  D device;
  Parameters<D> parameters(device, layer, 1);
  std::set<std::string> names;
  for (const auto& entry : parameters.entries()) names.insert(entry.name);
  return names;
}

}  // namespace

TEST_CASE_TEMPLATE("linformer: gradients of self-attention and cross-attention match finite differences", Policy,
                   Linformer<3, 5, Sharing::none>, Linformer<3, 5>, Linformer<3, 5, Sharing::key_value>,
                   Linformer<3, 5, Sharing::layers>, Linformer<2, 5, Sharing::heads, DotProduct>, Linformer<6, 5>) {
  D device;
  MultiHead<D, 8, 2, Policy> layer(0.3f);
  Input<D, 8> input(10), memory(9);
  Together model(layer, input, memory);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  const auto self = [&](Tape<D>& tape) { return mixture(tape, layer(input(tape), upload(tape, queries).rows)); };
  const auto cross = [&](Tape<D>& tape) {
    const auto remembered = layer.remember(memory(tape), upload(tape, keys).rows);
    return mixture(tape, layer(input(tape), upload(tape, queries).rows, remembered));
  };
  check_gradients(parameters, self);
  check_gradients(parameters, self, TapeMode::training(1, 1));
  check_gradients(parameters, cross);
  check_gradients(parameters, cross, TapeMode::training(1, 1));
}

TEST_CASE("linformer: attends to E K and F V of the first columns") {
  D device;
  MultiHead<D, 4, 2, Linformer<2, 5>> layer;
  Input<D, 4> input(3);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  Tape<D> tape(device);
  const auto x = input(tape);
  const auto seen = layer.remember(x, upload(tape, sentences({{1, 1, 1}})).rows);
  CHECK(seen.rows.count == 1);
  CHECK(seen.rows.longest == 2);
  const auto all = layer.in(x);  // queries, keys, values
  const auto e = parameters.read(parameters.find("0.projection.keys")),
             f = parameters.read(parameters.find("0.projection.values"));
  for (Index k = 0; k < 2; ++k)
    for (Index j = 0; j < 4; ++j) {
      double key = 0, value = 0;
      for (Index i = 0; i < 3; ++i) {
        key += e[static_cast<std::size_t>(5 * k + i)] * all.value(i, 4 + j);
        value += f[static_cast<std::size_t>(5 * k + i)] * all.value(i, 8 + j);
      }
      CHECK(seen.keys.value(k, j) == doctest::Approx(key).epsilon(1e-12));
      CHECK(seen.values.value(k, j) == doctest::Approx(value).epsilon(1e-12));
    }
}

TEST_CASE("linformer: with per-head projections each head equals a one-head Linformer") {
  D device;
  MultiHead<D, 4, 2, Linformer<2, 5, Sharing::none>> own;
  MultiHead<D, 4, 2, Linformer<2, 5>> shared;
  Input<D, 4> input(3);
  Together model(own, shared, input);
  Parameters<D> parameters(device, model, 1);
  shake(parameters);
  for (const char* name : {"in.weight", "in.bias"})
    parameters.write(parameters.find(std::string("1.") + name), parameters.read(parameters.find(std::string("0.") + name)));
  for (const Index head : {0, 1}) {
    for (const char* name : {"projection.keys", "projection.values"}) {
      const auto both = parameters.read(parameters.find(std::string("0.") + name));
      parameters.write(parameters.find(std::string("1.") + name),
                       {both.begin() + 10 * head, both.begin() + 10 * (head + 1)});
    }
    Tape<D> tape(device);
    const auto x = input(tape);
    const Ragged rows = upload(tape, sentences({{1, 1}, {1}})).rows;
    const auto ours = own.remember(x, rows), theirs = shared.remember(x, rows);
    for (Index k = 0; k < 4; ++k)
      for (Index j = 2 * head; j < 2 * head + 2; ++j) {
        CHECK(ours.keys.value(k, j) == doctest::Approx(theirs.keys.value(k, j)).epsilon(1e-12));
        CHECK(ours.values.value(k, j) == doctest::Approx(theirs.values.value(k, j)).epsilon(1e-12));
      }
  }
}

TEST_CASE("linformer: each kind of sharing has the expected projections") {
  MultiHead<D, 8, 2, Linformer<3, 5, Sharing::none>> none;
  MultiHead<D, 8, 2, Linformer<3, 5>> heads;
  MultiHead<D, 8, 2, Linformer<3, 5, Sharing::key_value>> one;
  CHECK(none.projection.keys.rows == 6);
  CHECK(heads.projection.keys.rows == 3);
  CHECK(names_of(none).count("projection.values") == 1);
  CHECK(names_of(heads).count("projection.values") == 1);
  CHECK(names_of(one).count("projection.keys") == 1);
  CHECK(names_of(one).count("projection.values") == 0);
}

TEST_CASE("linformer: initial projections are normal with standard deviation 1 / sqrt n and E differs from F") {
  D device;
  MultiHead<D, 8, 2, Linformer<40, 400>> layer;
  Parameters<D> parameters(device, layer, 1);
  const auto e = parameters.read(parameters.find("projection.keys")),
             f = parameters.read(parameters.find("projection.values"));
  for (const auto& numbers : {e, f}) {
    double sum = 0, squares = 0;
    for (const double number : numbers) sum += number, squares += number * number;
    const auto count = static_cast<double>(numbers.size());
    CHECK(std::abs(sum / count) < 0.002);                                          // five standard errors
    CHECK(std::sqrt(squares / count) == doctest::Approx(1 / 20.0).epsilon(0.03));  // 1 / sqrt 400, five standard errors
  }
  CHECK(e != f);
}

TEST_CASE("linformer: a sentence longer than n is rejected with both lengths in the message") {
  D device;
  MultiHead<D, 8, 2, Linformer<3, 5>> layer;
  Input<D, 8> input(6);
  Together model(layer, input);
  Parameters<D> parameters(device, model, 1);
  Tape<D> tape(device);
  const std::string said = complaint([&] { layer(input(tape), upload(tape, sentences({{1, 1, 1, 1, 1, 1}})).rows); });
  CHECK(said.find("a sentence of 6 tokens exceeds the projection's n = 5") != std::string::npos);
}
