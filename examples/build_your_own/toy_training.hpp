#pragma once
// What these programs share: random sequences as data, and the usual training loop.

#include <iostream>

#include "attn/core/network.hpp"
#include "attn/core/sentences.hpp"
#include "attn/optim/adam.hpp"
#include "device.hpp"

/// A sequence of tokens below `vocabulary`.
inline std::vector<attn::Token> random_tokens(attn::Random& random, attn::Index length, attn::Index vocabulary) {
  std::vector<attn::Token> tokens(static_cast<std::size_t>(length));
  for (attn::Token& token : tokens) token = static_cast<attn::Token>(random.below(vocabulary));
  return tokens;
}

/// 32 random sequences, and the same after `change`.
struct SequencePairs {
  attn::Sentences from, to;

  SequencePairs(attn::Random& random, attn::Index length, attn::Index vocabulary, auto&& change) {
    for (int i = 0; i < 32; ++i) {
      auto tokens = random_tokens(random, length, vocabulary);
      from.push_back(tokens);
      change(tokens);
      to.push_back(tokens);
    }
  }
};

/// Trains with Adam on loss_of(tape), which draws a new batch at each step. Prints the loss every 100 steps and returns the
/// last one.
template <class Model>
double train(attn::Network<Model>& network, std::uint64_t steps, double rate, auto&& loss_of) {
  attn::Adam adam(network);
  double last = 0;
  for (std::uint64_t step = 1; step <= steps; ++step) {
    attn::Tape<Device> tape(network.device(), attn::TapeMode::training(1, step));
    attn::Loss<Device> loss = loss_of(tape);
    loss.backward();
    adam.step(rate);
    if (step % 100 == 0) std::cout << "step " << step << ": loss " << (last = loss.value()) << "\n";
  }
  return last;
}
