#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

#include "attn/decode/attention_alignment.hpp"
#include "attn/decode/ensemble.hpp"
#include "attn/decode/search.hpp"
#include "attn/run/marian_folder.hpp"
#include "attn/run/open_translator.hpp"

// Bodies of open_translator.hpp: compiled once in attn::compiled, or inline where a program does without it.

namespace attn {

ATTN_RUN_INLINE FolderTranslator::FolderTranslator(RunCard card, std::shared_ptr<AnyModel> model)
    : FolderTranslator(std::move(card), std::vector{std::move(model)}) {}
ATTN_RUN_INLINE FolderTranslator::FolderTranslator(RunCard card, std::vector<std::shared_ptr<AnyModel>> models)
    : card_(std::move(card)), models_(std::move(models)), mutex_(std::make_unique<std::mutex>()) {
  require(!models_.empty(), "a translator needs a model");
  options.limit = card_.limit;
  for (const auto& model : models_) options.limit = std::min(options.limit, model->longest_translation());
  options.truncate = card_.truncate;
  options.search = card_.search;
  if (card_.suppress_unknown) options.never = card_.target.unknown();
}
ATTN_RUN_INLINE FolderTranslator::FolderTranslator(FolderTranslator&&) noexcept = default;
ATTN_RUN_INLINE FolderTranslator::~FolderTranslator() = default;

ATTN_RUN_INLINE std::unique_lock<std::mutex> FolderTranslator::turn() const {
  require(mutex_ != nullptr, "this translator was moved to another, and has no model left");
  return std::unique_lock(*mutex_);
}

ATTN_RUN_INLINE std::vector<std::string> FolderTranslator::operator()(const std::vector<std::string>& lines) const {
  std::vector<std::string> texts;
  for (Translation& translation : translate(lines)) texts.push_back(std::move(translation.text));
  return texts;
}

ATTN_RUN_INLINE std::vector<Translation> FolderTranslator::translate(const std::vector<std::string>& lines) const {
  const auto lock = turn();
  Index workers = models_[0]->workers();
  for (const auto& model : models_) workers = std::min(workers, model->workers());
  return translate_lines(
      lines, card_.source, card_.target, options,
      [&](const Sentences& batch, std::span<const Index> places, Index worker) { return decode(batch, places, worker); },
      workers);
}

ATTN_RUN_INLINE std::unique_ptr<DecodingSteps> FolderTranslator::start(const Sentences& source, const SearchOptions& search,
                                                                       Index worker) const {
  check(search, source.size());
  if (models_.size() == 1) return models_[0]->start(source, search.limit, search.rows(), search.among, worker);
  std::vector<std::unique_ptr<DecodingSteps>> members;
  for (const auto& model : models_)
    members.push_back(model->start(source, search.limit, search.rows(), search.among, worker));
  return std::make_unique<EnsembleSteps>(std::move(members));
}

ATTN_RUN_INLINE std::vector<std::vector<Hypothesis>> FolderTranslator::decode(const Sentences& batch,
                                                                              std::span<const Index> lines,
                                                                              Index worker) const {
  if (!options.search && models_.size() == 1)
    return as_hypotheses(models_[0]->translate(batch,
                                               {card_.target.begin(), card_.target.end(), options.limit, options.never,
                                                tokens_among(options, card_.target, batch)},
                                               worker),
                         options.limit);
  SearchOptions how = search_options_of(options, card_.target, lines);
  how.among = tokens_among(options, card_.target, batch, how.prefixes);
  return search(*start(batch, how, worker), how);
}

ATTN_RUN_INLINE SearchTree FolderTranslator::search_tree(std::string_view line) const {
  const auto lock = turn();
  const Index first = 0;
  SearchOptions how = search_options_of(options, card_.target, {&first, 1});
  require(!how.sampling, "a tree is that of a beam search; sampling has none");
  how.beam = std::max<Index>(how.beam, 2);
  auto tokens = card_.source.encode(utf8::repair(std::string(line)));
  tokens.resize(std::min(tokens.size(), static_cast<std::size_t>(options.truncate)));
  Sentences source;
  special_tokens().add_source(source, tokens);
  how.among = tokens_among(options, card_.target, source, how.prefixes);
  std::vector<SearchTree> trees;
  search(*start(source, how), how, &trees);
  return trees[0];
}

ATTN_RUN_INLINE std::vector<double> FolderTranslator::log_probabilities(std::string_view source,
                                                                        std::string_view target) const {
  const auto lock = turn();
  Sentences from, to;
  from.push_back(card_.source.encode(source));
  to.push_back(card_.target.encode(target));
  std::vector<double> mean = models_[0]->log_probabilities(special_tokens(), from, to)[0];
  if (models_.size() == 1) return mean;
  for (double& p : mean) p = std::exp(p);
  for (std::size_t m = 1; m < models_.size(); ++m) {
    const auto other = models_[m]->log_probabilities(special_tokens(), from, to)[0];
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += std::exp(other[i]);
  }
  for (double& p : mean) p = std::log(p / static_cast<double>(models_.size()));
  return mean;
}

ATTN_RUN_INLINE std::vector<WordLink> FolderTranslator::alignment(std::span<const Token> source,
                                                                  std::span<const Token> target) const {
  return align_by_last_layer(attention_maps(source, target), group_words(source, card_.source),
                             group_words(target, card_.target));
}

ATTN_RUN_INLINE std::vector<TokenProbability> FolderTranslator::next_token(std::string_view source,
                                                                           std::string_view target) const {
  const auto lock = turn();
  const auto p = models_[0]->next_token(special_tokens(), card_.source.encode(source), card_.target.encode(target));
  std::vector<TokenProbability> tokens;
  for (Token id = 0; id < card_.target.size(); ++id)
    tokens.push_back({id, card_.target.name(id), p[static_cast<std::size_t>(id)]});
  std::stable_sort(tokens.begin(), tokens.end(),
                   [](const auto& a, const auto& b) { return a.probability > b.probability; });
  return tokens;
}

ATTN_RUN_INLINE std::vector<AttentionMap> FolderTranslator::attention_maps(std::span<const Token> source,
                                                                           std::span<const Token> target) const {
  const auto lock = turn();
  return models_[0]->attention_maps(special_tokens(), source, target);
}

namespace detail {

inline FolderTranslator open_marian(const std::filesystem::path& folder, const DeviceOptions& device) {
  MarianFolder marian = read_marian_folder(folder);
  std::shared_ptr<AnyModel> model = models().make(marian.card.model, device);
  model->load_marian(folder / "model.safetensors", marian.never);
  return FolderTranslator(std::move(marian.card), std::move(model));
}

}  // namespace detail

ATTN_RUN_INLINE FolderTranslator open_translator(const std::filesystem::path& folder, DeviceOptions device) {
  if (is_hub_folder(folder)) return detail::open_marian(folder, device);
  RunCard card = read_run_card(folder);
  const auto weights = folder / "model.safetensors";
  require(std::filesystem::exists(weights), "there is no model.safetensors in ", folder.string(),
          " yet: it comes with the first validation of the training");
  if (device.plans.empty()) device.plans = folder;
  std::shared_ptr<AnyModel> model = models().make(card.model, device);
  model->load(weights);
  return FolderTranslator(std::move(card), std::move(model));
}

ATTN_RUN_INLINE FolderTranslator open_ensemble(const std::vector<std::filesystem::path>& folders,
                                               const DeviceOptions& device) {
  require(!folders.empty(), "open_ensemble: no folders are named; an ensemble has one at least");
  const FolderTranslator first = open_translator(folders[0], device);
  std::vector<std::shared_ptr<AnyModel>> models{first.shared_model()};
  for (const auto& folder : std::span(folders).subspan(1)) {
    const FolderTranslator one = open_translator(folder, device);
    require(
        one.card().source.hash() == first.card().source.hash() && one.card().target.hash() == first.card().target.hash(),
        "the model in ", folder.string(), " has other tokenizers than that in ", folders[0].string(),
        "; the models of an ensemble share theirs");
    models.push_back(one.shared_model());
  }
  return FolderTranslator(first.card(), std::move(models));
}

}  // namespace attn
