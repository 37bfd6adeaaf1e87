#pragma once
#include "attn/core/batch.hpp"
#include "workload.hpp"

// The training batches of the comparisons, and the floating-point operations of a Transformer's step.

/// A batch of these lengths. A target of n tokens gives n - 1 inputs and n - 1 labels, where each label is the next token.
inline attn::Batch training_batch(const std::vector<attn::Index>& source, const std::vector<attn::Index>& target,
                                  attn::Index source_vocabulary, attn::Index target_vocabulary, attn::Random& random) {
  attn::Batch batch;
  batch.source = random_sentences(source, source_vocabulary, random);
  const attn::Sentences whole = random_sentences(target, target_vocabulary, random);
  for (attn::Index i = 0; i < whole.size(); ++i) {
    batch.target_input.push_back(whole[i].first(whole[i].size() - 1));
    batch.target_output.push_back(whole[i].last(whole[i].size() - 1));
  }
  return batch;
}

/// Batches 0 to count - 1 of 88 sentences, source mean 31, target mean 59 tokens.
inline std::vector<attn::Batch> ragged_batches(int count, attn::Index vocabulary) {
  attn::Random random(1);
  std::vector<attn::Batch> batches;
  for (int i = 0; i < count; ++i) {
    const auto seed = static_cast<std::uint64_t>(2 * i);
    batches.push_back(training_batch(lengths(seed + 1, 88, 31), lengths(seed + 2, 88, 59), vocabulary, vocabulary, random));
  }
  return batches;
}

/// One batch of 88 sentences with 256 source tokens, decoder inputs and labels each.
inline std::vector<attn::Batch> fixed_batch(attn::Index vocabulary) {
  attn::Random random(1);
  return {
      training_batch(std::vector<attn::Index>(88, 256), std::vector<attn::Index>(88, 257), vocabulary, vocabulary, random)};
}

/// Sizes of a Transformer. k > 0: Linformer encoder and cross-attention with projected length k; 0: full attention.
struct Sizes {
  double width = 512, inner = 2048, layers = 6, vocabulary = 50272, k = 0;
};

/// Multiplications and additions of the encoder's forward pass over sentences of these lengths.
inline double encoder_flop(const attn::Sentences& source, const Sizes& m) {
  double pairs = 0;  // query-key pairs
  for (attn::Index i = 0; i < source.size(); ++i) {
    const auto n = static_cast<double>(source.length(i));
    pairs += n * (m.k > 0 ? 2 * m.k : n);  // projecting keys and values costs as much as attention
  }
  const double weights = 4 * m.width * m.width + 2 * m.width * m.inner;
  return m.layers * (2 * static_cast<double>(source.tokens.size()) * weights + 4 * m.width * pairs);
}

/// Multiplications and additions of a training step's matrix products by the formulas. Each forward product counts again
/// for the gradient of each operand. Excludes recomputation, which saves memory, and other operations.
inline double training_flop(const attn::Batch& batch, const Sizes& m) {
  const auto source = static_cast<double>(batch.source.tokens.size()),
             target = static_cast<double>(batch.target_input.tokens.size());
  double pairs = 0;
  for (attn::Index i = 0; i < batch.target_input.size(); ++i) {
    const auto n = static_cast<double>(batch.source.length(i)), t = static_cast<double>(batch.target_input.length(i));
    pairs += t * (t + 1) / 2 + (m.k > 0 ? m.k * (t + n) : t * n);
  }
  const double square = m.width * m.width;
  const double decoder = 2 * (target * (6 * square + 2 * m.width * m.inner) + source * 2 * square) + 4 * m.width * pairs;
  return 3 * (encoder_flop(batch.source, m) + m.layers * decoder + 2 * target * m.width * m.vocabulary);
}
