#pragma once
#include <set>

#include "attn/decode/greedy.hpp"
#include "attn/models/language_model.hpp"
#include "support/model_tools.hpp"

// Compares generation with a key-value cache with recomputing the whole text for every token.

namespace attn_test {

/// A language model with a vocabulary of 13, whose texts depend on the prompt.
template <class Model>
struct GenerationCase {
  using Device = typename Model::DeviceType;

  Device device;
  Model model;
  Parameters<Device> parameters;

  GenerationCase(const TransformerShape& shape, std::uint64_t seed)
      : model({.vocabulary = 13, .shape = shape}), parameters(device, model, seed) {
    shake(parameters, 0.7, seed);
  }

  /// Logits of the token after a text, from the whole text.
  std::vector<double> from_scratch(const std::vector<Token>& text) {
    Tape<Device> tape(device);
    Sentences one;
    one.push_back(text);
    const auto logits = model.output.logits(model.hidden(tape, upload(tape, one)));
    return rows_of(logits, logits.rows() - 1, 1);
  }

  std::vector<Token> continued(std::span<const Token> prompt, Token end, Index limit) {
    std::vector<Token> text(prompt.begin(), prompt.end());
    for (Index t = 0; t < limit; ++t) {
      const auto logits = from_scratch(text);
      const auto token = static_cast<Token>(std::max_element(logits.begin(), logits.end()) - logits.begin());
      if (token == end) break;
      text.push_back(token);
    }
    return {text.begin() + static_cast<std::ptrdiff_t>(prompt.size()), text.end()};
  }
};

/// Cached greedy texts and logits equal those computed from scratch, for any split into prompt and generated text.
template <class Model>
void check_generation(const TransformerShape& shape, std::uint64_t seed = 7) {
  GenerationCase<Model> test(shape, seed);
  const Sentences prompts = sentences({{4, 5, 6, 7, 8}, {9}, {4, 4, 4, 4, 4, 4, 4, 4}, {10, 9, 8}, {6}, {2, 3}});
  std::set<std::vector<Token>> different;
  for (const Token end : {0, 4, 7, 11}) {  // texts leave the batch at different steps
    const auto written = greedy(test.device, test.model, prompts, {.end = end, .limit = 9});
    REQUIRE(written.size() == 6);
    for (Index i = 0; i < prompts.size(); ++i) {
      CHECK(written[static_cast<std::size_t>(i)] == test.continued(prompts[i], end, 9));
      different.insert(written[static_cast<std::size_t>(i)]);
    }
  }
  CHECK(different.size() >= 5);  // else the model is too uniform for the test

  const std::vector<Token> text{4, 9, 9, 1, 12, 0};
  const auto expected = test.from_scratch(text);
  for (const std::size_t prompt_tokens : {1, 2, 5, 6}) {
    Tape<typename Model::DeviceType> tape(test.device);
    Sentences prompt;
    prompt.push_back(std::span<const Token>(text).first(prompt_tokens));
    auto state = test.model.start(tape, upload(tape, prompt), 10);
    std::vector<double> last;
    for (std::size_t i = prompt_tokens - 1; i < text.size(); ++i) {
      Tape<typename Model::DeviceType> step(test.device);
      const auto logits = next_logits(step, test.model, state, {text[i]});
      last.assign(logits.row(0), logits.row(0) + logits.cols);
    }
    CHECK(largest_difference(last, expected) < 1e-12);
  }
}

}  // namespace attn_test
