#include "attn/tape/embedding.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/errors.hpp"

using namespace attn;

TEST_CASE("uploaded batch: contains its three texts") {
  Cpu<float> device(1);
  Tape<Cpu<float>> tape(device);
  const auto [source, target, labels] = upload(tape, Batch::of({{5, 6}, {7}}, {{8}, {9, 4}}, {.begin = 0, .end = 2}));
  CHECK(source.rows.rows == 3);
  CHECK(target.rows.rows == 5);
  CHECK(std::vector<Token>(source.tokens, source.tokens + 3) == std::vector<Token>{5, 6, 7});
  CHECK(std::vector<Token>(target.tokens, target.tokens + 5) == std::vector<Token>{0, 8, 0, 9, 4});
  CHECK(std::vector<Token>(labels.tokens, labels.tokens + 5) == std::vector<Token>{8, 2, 9, 4, 2});
}

TEST_CASE("uploaded batch: a batch with mismatched sides is an error") {
  Cpu<float> device(1);
  Tape<Cpu<float>> tape(device);
  CHECK(contains(error_of([&] {
                   upload(tape, Batch{Sentences{{1}, {2}}, Sentences{{3}}, Sentences{{4}}});
                 }),
                 "a batch of 2 source sentences has 1 target sentences"));
  CHECK(contains(error_of([&] {
                   upload(tape, Batch{Sentences{{1}}, Sentences{{3, 4}}, Sentences{{4}}});
                 }),
                 "sentences of different lengths. Create the batch with Batch::of."));
}
