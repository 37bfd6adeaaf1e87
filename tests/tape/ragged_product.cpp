#include "attn/tape/ragged_product.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/attention.hpp"
#include "attn/tape/columns.hpp"
#include "attn/tape/reductions.hpp"
#include "support/errors.hpp"
#include "support/gradients.hpp"
#include "support/tape.hpp"

using attn::Index;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;
using Variable = attn::Variable<Device>;

namespace {

/// Attention of sentences to others: the output, and the gradients of q, k and v.
struct Attention {
  Device device{2};
  Layout<Device> queries, keys;
  Numbers q, k, v, dy;

  Attention(const std::vector<std::int32_t>& query_lengths, const std::vector<std::int32_t>& key_lengths)
      : queries(device, query_lengths),
        keys(device, key_lengths),
        q(random_numbers(queries.rows() * 4, 1)),
        k(random_numbers(keys.rows() * 4, 2)),
        v(random_numbers(keys.rows() * 4, 3)),
        dy(random_numbers(queries.rows() * 4, 4)) {}

  template <class Function>
  std::array<Numbers, 4> run(const Function& function) {
    Tape tape(device, attn::TapeMode::gradients());
    const auto of_q = input<4>(tape, q), of_k = input<4>(tape, k), of_v = input<4>(tape, v);
    const Variable y = function(of_q, of_k, of_v);
    contribute(tape, y, dy);
    tape.backward();
    return {values(tape, y), gradient<Device>(tape, of_q), gradient<Device>(tape, of_k), gradient<Device>(tape, of_v)};
  }
};

}  // namespace

TEST_CASE("ragged products: manual attention equals fused attention in values and gradients") {
  const std::vector<std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>> batches{
      {{3, 0, 1, 5}, {3, 0, 1, 5}}, {{2, 3, 1, 0}, {4, 0, 7, 2}}, {{70, 1}, {70, 90}}};
  for (const auto& [query_lengths, key_lengths] : batches)
    for (const bool causal : {false, true}) {
      Attention of(query_lengths, key_lengths);
      CAPTURE(causal);
      CAPTURE(of.queries.rows());
      const auto fused = of.run([&](auto q, auto k, auto v) {
        return attn::attention<Device>(q, of.queries, {k, v, of.keys}, {1, 0.5f, causal, 0});
      });
      const auto by_hand = of.run([&](auto q, auto k, auto v) {
        const Variable weights = softmax(ragged_scores(q, of.queries, k, of.keys, 0.5), of.queries, of.keys, causal);
        return ragged_mix(weights, of.queries, v, of.keys);
      });
      for (std::size_t i = 0; i < 4; ++i) CHECK(distance(by_hand[i], fused[i]) <= 1e-13);
    }
}

TEST_CASE("ragged products: gradients match finite differences and accumulate with one variable on both sides") {
  for (const bool same : {false, true}) {
    CAPTURE(same);
    Device device(2);
    const Layout<Device> rows(device, {2, 0, 3});
    Tensor<Device> x(device, 5, 3, random_numbers(15, 1)), z(device, 5, 3, random_numbers(15, 2));
    const Numbers dy = random_numbers(15, 3);
    const auto function = [&](auto a, auto b) {
      const Variable scores = ragged_scores(2 * a, rows, same ? Variable(a) : Variable(b), rows, 0.7);
      return Variable(ragged_mix(tanh(scores), rows, same ? Variable(a) : Variable(a * b), rows) + a);
    };
    Tape tape(device, attn::TapeMode::gradients());
    const auto a = input<3>(tape, x.read()), b = input<3>(tape, z.read());
    contribute(tape, function(a, b), dy);
    tape.backward();
    const auto value = [&] {
      Tape again(device);
      return dot(dy, values(again, function(input<3>(again, x.read()), input<3>(again, z.read()))));
    };
    check_gradient("a", x, gradient<Device>(tape, a), value);
    if (!same) check_gradient("b", z, gradient<Device>(tape, b), value);
  }
}

TEST_CASE("ragged products: a side without gradient does not affect the gradient of the other") {
  Device device(1);
  const Layout<Device> rows(device, {2, 1});
  Tensor<Device> constant(device, 3, 2, random_numbers(6, 2));
  Tensor<Device> x(device, 3, 2, random_numbers(6, 1));
  const Numbers dy = random_numbers(6, 3);
  for (const bool left : {true, false}) {
    Tape tape(device, attn::TapeMode::gradients());
    const Variable in = input<2>(tape, x.read());
    const Variable other = tape.constant(constant);
    const Variable y = left ? ragged_scores(in, rows, other, rows) : ragged_scores(other, rows, in, rows);
    CHECK(y.slot != nullptr);
    contribute(tape, y, dy);
    tape.backward();
    check_gradient("x", x, gradient(tape, in), [&] {
      Tape again(device);
      const Variable z = input<2>(again, x.read()), c = again.constant(constant);
      return dot(dy, values(again, left ? ragged_scores(z, rows, c, rows) : ragged_scores(c, rows, z, rows)));
    });
  }
}

TEST_CASE("ragged products: errors for mismatched queries and keys name both") {
  Device device(1);
  Tape tape(device);
  const Layout<Device> rows(device, {2});
  const auto q = input<2>(tape, {1, 2, 3, 4});
  const auto k = input<3>(tape, {1, 2, 3, 4, 5, 6});
  CHECK(contains(error_of([&] { ragged_scores(q, rows, k, rows); }), "queries of 2 columns and keys of 3"));
  const attn::Ragged text = upload(tape, attn::Sentences{{1, 2, 3}}).rows,
                     two = upload(tape, attn::Sentences{{1}, {2}}).rows;
  CHECK(contains(error_of([&] { ragged_scores(q, rows, q, text); }), "the activation has 2 rows, but the text has 3"));
  CHECK(contains(error_of([&] { ragged_mix(q, text, q, rows); }), "the activation has 2 rows, but the text has 3"));
  CHECK(contains(error_of([&] { ragged_scores(q, two, q, rows); }), "queries of 2 sentences and keys of 1"));
  CHECK(contains(error_of([&] { ragged_mix(q, rows, q, two); }), "queries of 1 sentences and keys of 2"));
}
