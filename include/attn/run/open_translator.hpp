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
  FolderTranslator(RunCard card, std::shared_ptr<AnyModel> model)
      : card_(std::move(card)), model_(std::move(model)), mutex_(std::make_unique<std::mutex>()) {
    options.limit = card_.limit;
    options.truncate = card_.truncate;
    if (card_.suppress_unknown) options.never = card_.target.unknown();
  }

  TranslatorOptions options;

  /// One translation for each line, in their order (decode/translate_lines.hpp says what becomes of odd lines).
  std::vector<std::string> operator()(const std::vector<std::string>& lines) const {
    std::vector<std::string> texts;
    for (Translation& translation : translate(lines)) texts.push_back(std::move(translation.text));
    return texts;
  }

  /// The same with tokens beside the text.
  std::vector<Translation> translate(const std::vector<std::string>& lines) const {
    const std::lock_guard lock(*mutex_);
    return translate_lines(lines, card_.source, card_.target, options, [&](const Sentences& batch) {
      return model_->translate(batch, {card_.target.begin(), card_.target.end(), options.limit, options.never});
    });
  }

  /// What comes next after a source and the target so far: every token of the vocabulary, the most probable first.
  std::vector<TokenProbability> next_token(std::string_view source, std::string_view target) const {
    const std::lock_guard lock(*mutex_);
    const auto p = model_->next_token(special_tokens(), card_.source.encode(source), card_.target.encode(target));
    std::vector<TokenProbability> tokens;
    for (Token id = 0; id < card_.target.size(); ++id)
      tokens.push_back({id, card_.target.name(id), p[static_cast<std::size_t>(id)]});
    std::stable_sort(tokens.begin(), tokens.end(),
                     [](const auto& a, const auto& b) { return a.probability > b.probability; });
    return tokens;
  }

  /// Where the model looks while it reads the one and writes the other.
  std::vector<AttentionMap> attention_maps(std::span<const Token> source, std::span<const Token> target) const {
    const std::lock_guard lock(*mutex_);
    return model_->attention_maps(special_tokens(), source, target);
  }

  const RunCard& card() const { return card_; }
  AnyModel& model() const { return *model_; }

 private:
  SpecialTokens special_tokens() const { return special_tokens_of(card_.source, card_.target); }

  RunCard card_;
  std::shared_ptr<AnyModel> model_;
  std::unique_ptr<std::mutex> mutex_;
};

/// Opens the folder of a training, whatever model it holds, on whatever device there is.
inline FolderTranslator open_translator(const std::filesystem::path& folder, DeviceOptions device = {}) {
  RunCard card = read_run_card(folder);
  const auto weights = folder / "model.safetensors";
  require(std::filesystem::exists(weights), "there is no model.safetensors in ", folder.string(),
          " yet: it comes with the first validation of the training");
  if (device.plans.empty()) device.plans = folder;
  std::shared_ptr<AnyModel> model = models().make(card.model, device);
  model->load(weights);
  return FolderTranslator(std::move(card), std::move(model));
}

}  // namespace attn

#ifndef ATTN_COMPILED  // else attn::compiled has them
#include "attn/run/models.hpp"
#endif
