#pragma once
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "attn/core/sentences.hpp"
#include "attn/decode/attention_map.hpp"
#include "attn/decode/decoding_steps.hpp"
#include "attn/decode/greedy_options.hpp"
#include "attn/run/model_spec.hpp"
#include "attn/run/training_run.hpp"

namespace attn {

/// A model on its device, whatever their types.
class AnyModel {
 public:
  virtual ~AnyModel() = default;

  virtual const ModelSpec& spec() const = 0;
  virtual nlohmann::json shape() const = 0;  // what its type fixes: layers, widths, norm, attention
  virtual Index parameters() const = 0;      // how many weights it learns
  virtual std::string device() const = 0;    // in words

  /// Takes its weights from a file.
  virtual void load(const std::filesystem::path& weights) = 0;

  /// Takes them from a file of Hugging Face's MarianMTModel (train/marian.hpp); no translation holds a token of `never`.
  virtual void load_marian(const std::filesystem::path& weights, std::span<const Token> never) = 0;

  /// Greedy translations of sentences that have their special tokens; what it gives has none.
  virtual std::vector<std::vector<Token>> translate(const Sentences& source, const GreedyOptions& options,
                                                    Index worker) = 0;
  std::vector<std::vector<Token>> translate(const Sentences& source, const GreedyOptions& options) {
    return translate(source, options, -1);
  }

  /// Excludes the parameters that a name selects from training (Parameters::freeze).
  virtual void freeze(const std::string& name) = 0;

  /// How many tokens it can write at most.
  virtual Index longest_translation() const = 0;

  /// How many batches it can decode at the same time, each by a worker of its own, 0 to workers() - 1; worker -1 is all of the
  /// device.
  virtual Index workers() = 0;

  /// Decoding step by step, for search(*steps, options) of decode/search.hpp and for ensembles: of sentences that have their
  /// special tokens, with room for `limit` tokens of so many hypotheses of each, made of the tokens `among`, rising, or of
  /// all where none are given. One a worker at a time: it ends before the next begins.
  virtual std::unique_ptr<DecodingSteps> start(const Sentences& source, Index limit, Index hypotheses,
                                               std::span<const Token> among, Index worker) = 0;
  std::unique_ptr<DecodingSteps> start(const Sentences& source, Index limit, Index hypotheses) {
    return start(source, limit, hypotheses, {}, -1);
  }

  /// log P of each target token, and of the end, given the source and what stands before it: a list for each pair of
  /// sentences, both without special tokens.
  virtual std::vector<std::vector<double>> log_probabilities(const SpecialTokens& special_tokens, const Sentences& source,
                                                             const Sentences& target) = 0;

  /// The probability of every token to be the next one; both sentences without special tokens.
  virtual std::vector<double> next_token(const SpecialTokens& special_tokens, std::span<const Token> source,
                                         std::span<const Token> target) = 0;

  /// Where it looks while it reads the one and writes the other; both without special tokens.
  virtual std::vector<AttentionMap> attention_maps(const SpecialTokens& special_tokens, std::span<const Token> source,
                                                   std::span<const Token> target) = 0;

  /// Trains it from the weights it has. Afterwards the folder has the best ones; it may have others.
  virtual TrainingOutcome train(const TrainingRun& run) = 0;
};

}  // namespace attn
