#pragma once
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

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

/// The translator of a run's folder: strings in, strings out. Several threads may use one, in turns.
class FolderTranslator {
 public:
  FolderTranslator(RunCard card, std::shared_ptr<AnyModel> model);
  FolderTranslator(FolderTranslator&&) noexcept;
  ~FolderTranslator();

  TranslatorOptions options;

  /// One translation for each line, in their order (decode/translate_lines.hpp says what becomes of odd lines).
  std::vector<std::string> operator()(const std::vector<std::string>& lines) const;

  /// The same with tokens beside the text.
  std::vector<Translation> translate(const std::vector<std::string>& lines) const;

  /// What comes next after a source and the target so far: every token of the vocabulary, the most probable first.
  std::vector<TokenProbability> next_token(std::string_view source, std::string_view target) const;

  /// Where the model looks while it reads the one and writes the other.
  std::vector<AttentionMap> attention_maps(std::span<const Token> source, std::span<const Token> target) const;

  const RunCard& card() const { return card_; }
  AnyModel& model() const { return *model_; }

 private:
  SpecialTokens special_tokens() const { return special_tokens_of(card_.source, card_.target); }

  RunCard card_;
  std::shared_ptr<AnyModel> model_;
  std::unique_ptr<std::mutex> mutex_;
};

/// Opens the folder of a training, whatever model it holds, on whatever device there is.
FolderTranslator open_translator(const std::filesystem::path& folder, DeviceOptions device = {});

}  // namespace attn

#ifndef ATTN_COMPILED  // else attn::compiled has the bodies and the models
#include "attn/run/models.hpp"
#include "attn/run/open_translator_bodies.hpp"
#endif
