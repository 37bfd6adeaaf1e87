#pragma once
#include "attn/checkpoint/load_model.hpp"
#include "attn/decode/attention_maps.hpp"
#include "attn/decode/translate_lines.hpp"
#include "attn/run/model_spec.hpp"
#include "attn/run/training_run.hpp"

namespace attn {

/// Type-erased model with its device.
class AnyModel {
 public:
  virtual ~AnyModel() = default;

  virtual const ModelSpec& spec() const = 0;
  virtual nlohmann::json shape() const = 0;  // layers, widths, norm, attention
  virtual Index parameters() const = 0;      // number of parameters
  virtual std::string device() const = 0;    // description

  /// Loads the weights of a file; `options` may describe its layout.
  virtual void load(const SafetensorsFile& weights, const LoadOptions& options = {}) = 0;

  virtual SearchEngine& engine() = 0;

  /// Freezes the parameters that a name selects (Parameters::freeze).
  virtual void freeze(const std::string& name) = 0;

  /// The maximum number of tokens it can decode.
  virtual Index longest_translation() const = 0;

  /// log P of each target token and of the end token, given the source and the preceding tokens: one list per pair.
  /// Sentences without special tokens.
  virtual std::vector<std::vector<double>> log_probabilities(const SpecialTokens& special_tokens, const Sentences& source,
                                                             const Sentences& target) = 0;

  /// The probability of each token to come next; both sentences without special tokens.
  virtual std::vector<double> next_token(const SpecialTokens& special_tokens, std::span<const Token> source,
                                         std::span<const Token> target) = 0;

  /// Attention weights while reading `source` and decoding `target`, both without special tokens.
  virtual std::vector<AttentionMap> attention_maps(const SpecialTokens& special_tokens, std::span<const Token> source,
                                                   std::span<const Token> target) = 0;

  /// Trains from the current weights. The folder then has the best weights; the model itself may have others.
  virtual TrainingOutcome train(const TrainingRun& run) = 0;
};

}  // namespace attn
