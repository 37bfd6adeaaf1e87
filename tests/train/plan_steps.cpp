#include "attn/train/train_options.hpp"

#include <doctest/doctest.h>

using namespace attn;

TEST_CASE("plan steps: a run has the steps of its epochs or the given number") {
  TrainState state;
  CHECK(plan_steps(state, {.epochs = 4}, 15, 1) == 60);
  CHECK(plan_steps(state, {.epochs = 4, .steps = 50}, 15, 1) == 50);
  CHECK(plan_steps(state, {.epochs = 4, .steps = 70}, 15, 1) == 60);
  TrainState of_two;
  CHECK(plan_steps(of_two, {.epochs = 4}, 15, 2) == 32);  // the last of an epoch has one batch
}

TEST_CASE("plan steps: resuming with the same ranks keeps the total even if an epoch gains a batch") {
  TrainState state;
  plan_steps(state, {.epochs = 4}, 15, 1);
  state.step = 40, state.position = {2, 10};
  CHECK(plan_steps(state, {.epochs = 4}, 15, 1) == 60);
  state.step = 41;  // an epoch had a batch more
  CHECK(plan_steps(state, {.epochs = 4}, 15, 1) == 60);
  CHECK(plan_steps(state, {.epochs = 6}, 15, 1) == 90);
}

TEST_CASE("plan steps: resuming with other ranks keeps completed steps and replans the rest") {
  TrainState state;
  plan_steps(state, {.epochs = 4}, 15, 1);
  state.step = 40, state.position = {2, 10};
  CHECK(plan_steps(state, {.epochs = 4}, 15, 2) == 40 + 3 + 8);
  state.step = 42, state.position = {2, 14};
  CHECK(plan_steps(state, {.epochs = 4}, 15, 2) == 51);  // once more with two
  state.step = 43, state.position = {3, 0};
  CHECK(plan_steps(state, {.epochs = 4}, 15, 1) == 43 + 15);  // and back
  TrainState older;                                           // of a version that did not say how many batches a step had
  older.step = 40, older.position = {2, 10};
  CHECK(plan_steps(older, {.epochs = 4}, 15, 2) == 40);
}
