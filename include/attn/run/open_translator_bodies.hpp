#pragma once
#include <algorithm>
#include <utility>

#include "attn/run/open_translator.hpp"

// Bodies of open_translator.hpp: compiled once in attn::compiled, or inline where a program does without it.

namespace attn {

ATTN_RUN_INLINE FolderTranslator::FolderTranslator(RunCard card, std::shared_ptr<AnyModel> model)
    : card_(std::move(card)), model_(std::move(model)), mutex_(std::make_unique<std::mutex>()) {
  options.limit = card_.limit;
  options.truncate = card_.truncate;
  if (card_.suppress_unknown) options.never = card_.target.unknown();
}
ATTN_RUN_INLINE FolderTranslator::FolderTranslator(FolderTranslator&&) noexcept = default;
ATTN_RUN_INLINE FolderTranslator::~FolderTranslator() = default;

ATTN_RUN_INLINE std::vector<std::string> FolderTranslator::operator()(const std::vector<std::string>& lines) const {
  std::vector<std::string> texts;
  for (Translation& translation : translate(lines)) texts.push_back(std::move(translation.text));
  return texts;
}

ATTN_RUN_INLINE std::vector<Translation> FolderTranslator::translate(const std::vector<std::string>& lines) const {
  const std::lock_guard lock(*mutex_);
  return translate_lines(lines, card_.source, card_.target, options, [&](const Sentences& batch) {
    return model_->translate(batch, {card_.target.begin(), card_.target.end(), options.limit, options.never});
  });
}

ATTN_RUN_INLINE std::vector<TokenProbability> FolderTranslator::next_token(std::string_view source,
                                                                           std::string_view target) const {
  const std::lock_guard lock(*mutex_);
  const auto p = model_->next_token(special_tokens(), card_.source.encode(source), card_.target.encode(target));
  std::vector<TokenProbability> tokens;
  for (Token id = 0; id < card_.target.size(); ++id)
    tokens.push_back({id, card_.target.name(id), p[static_cast<std::size_t>(id)]});
  std::stable_sort(tokens.begin(), tokens.end(),
                   [](const auto& a, const auto& b) { return a.probability > b.probability; });
  return tokens;
}

ATTN_RUN_INLINE std::vector<AttentionMap> FolderTranslator::attention_maps(std::span<const Token> source,
                                                                           std::span<const Token> target) const {
  const std::lock_guard lock(*mutex_);
  return model_->attention_maps(special_tokens(), source, target);
}

ATTN_RUN_INLINE FolderTranslator open_translator(const std::filesystem::path& folder, DeviceOptions device) {
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
