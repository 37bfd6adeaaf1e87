#pragma once
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "attn/data/word_alignments.hpp"
#include "attn/decode/search_tree.hpp"
#include "attn/decode/translate_lines.hpp"
#include "attn/run/model_registry.hpp"
#include "attn/run/run_folder.hpp"

namespace attn {

/// A token and how probable it is.
struct TokenProbability {
  Token token;
  std::string name;  // as people read it
  double probability;
};

/// The translator of a run's folder, or of several as an ensemble: strings in, strings out. Several threads may use one, in
/// turns.
class FolderTranslator {
 public:
  FolderTranslator(RunCard card, std::shared_ptr<AnyModel> model);
  FolderTranslator(RunCard card, std::vector<std::shared_ptr<AnyModel>> models);
  FolderTranslator(FolderTranslator&&) noexcept;
  ~FolderTranslator();

  TranslatorOptions options;

  /// One translation for each line, in their order (decode/translate_lines.hpp says what becomes of odd lines).
  std::vector<std::string> operator()(const std::vector<std::string>& lines) const;

  /// The same with tokens beside the text, and as many hypotheses as options.search asks for.
  std::vector<Translation> translate(const std::vector<std::string>& lines) const;

  /// The tree of hypotheses that options.search looks at for a line, with a beam of 2 at least.
  SearchTree search_tree(std::string_view line) const;

  /// log P of each token of the target, and of its end, given the source.
  std::vector<double> log_probabilities(std::string_view source, std::string_view target) const;

  /// Which word of the source each word of the target comes from, by the attention of the last layer that looks at it.
  std::vector<WordLink> alignment(std::span<const Token> source, std::span<const Token> target) const;

  /// What comes next after a source and the target so far: every token of the vocabulary, the most probable first.
  std::vector<TokenProbability> next_token(std::string_view source, std::string_view target) const;

  /// Where the model looks while it reads the one and writes the other.
  std::vector<AttentionMap> attention_maps(std::span<const Token> source, std::span<const Token> target) const;

  const RunCard& card() const { return card_; }
  AnyModel& model() const { return *models_[0]; }
  std::shared_ptr<AnyModel> shared_model() const { return models_[0]; }

 private:
  std::unique_lock<std::mutex> turn() const;  // waits until it is this thread's
  SpecialTokens special_tokens() const { return special_tokens_of(card_.source, card_.target); }
  std::unique_ptr<DecodingSteps> start(const Sentences& source, const SearchOptions& search, Index worker = -1) const;
  std::vector<std::vector<Hypothesis>> decode(const Sentences& batch, std::span<const Index> lines, Index worker) const;

  RunCard card_;
  std::vector<std::shared_ptr<AnyModel>> models_;  // one, or an ensemble; maps and next tokens are the first one's
  std::unique_ptr<std::mutex> mutex_;
};

/// Opens the folder of a training, whatever model it holds, on whatever device there is; or that of an OPUS-MT model as Hugging
/// Face has them (run/marian_folder.hpp), which then searches as its generation_config.json says.
FolderTranslator open_translator(const std::filesystem::path& folder, DeviceOptions device = {});

/// Opens several folders of the same tokenizers as one ensemble, which translates with the mean of their probabilities.
FolderTranslator open_ensemble(const std::vector<std::filesystem::path>& folders, const DeviceOptions& device = {});

}  // namespace attn

#ifndef ATTN_COMPILED  // else attn::compiled has the bodies and the models
#include "attn/run/models.hpp"
#include "attn/run/open_translator_bodies.hpp"
#endif
