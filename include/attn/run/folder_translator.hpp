#pragma once
#include "attn/decode/attention_alignment.hpp"
#include "attn/decode/translate_lines.hpp"
#include "attn/run/any_model.hpp"
#include "attn/run/run_config.hpp"

namespace attn {

#ifdef ATTN_COMPILED
extern template std::vector<Translation> translate_lines(const std::vector<std::string>&, const AnyTokenizer&,
                                                         const AnyTokenizer&, const TranslatorOptions&, SearchEngine&);
#endif

/// A token with its probability.
struct TokenProbability {
  Token token;
  std::string name;  // printable
  double probability;
};

/// Translates strings with the model of a folder, or with an ensemble of several. Thread-safe.
class FolderTranslator {
 public:
  FolderTranslator(RunConfig config, std::shared_ptr<AnyModel> model)
      : FolderTranslator(std::move(config), {model}, {model, &model->engine()}) {}
  /// `engine` searches with all models.
  FolderTranslator(RunConfig config, std::vector<std::shared_ptr<AnyModel>> models, std::shared_ptr<SearchEngine> engine)
      : config_(std::move(config)), models_(std::move(models)), engine_(std::move(engine)) {
    options.limit = config_.limit;
    for (const auto& model : models_) options.limit = std::min(options.limit, model->longest_translation());
    options.truncate = config_.truncate;
    options.search = config_.search;
    options.never = config_.never;
    if (config_.suppress_unknown) options.never.push_back(config_.target.unknown());
  }

  TranslatorOptions options;

  /// Translates each line, in order (see decode/translate_lines.hpp for blank, long and invalid lines).
  std::vector<std::string> operator()(const std::vector<std::string>& lines) const {
    std::vector<std::string> texts;
    for (Translation& translation : translate(lines)) texts.push_back(std::move(translation.text));
    return texts;
  }

  /// Also returns tokens, and as many hypotheses as options.search requests.
  std::vector<Translation> translate(const std::vector<std::string>& lines) const { return translate(lines, options); }
  std::vector<Translation> translate(const std::vector<std::string>& lines, const TranslatorOptions& how) const {
    return translate_lines(lines, config_.source, config_.target, how, engine());
  }

  /// Number of lines to pass at once, so that batches hold sentences of similar length.
  Index lines_at_once() const { return 16 * engine().batch_size(options.search ? options.search->rows() : 1); }

  /// The search tree of a line for options.search, with a beam of at least 2.
  SearchTree search_tree(std::string_view line) const {
    const std::lock_guard lock(engine().mutex);
    const Index first = 0;
    auto tokens = config_.source.encode(utf8::repair(std::string(line)));
    tokens.resize(std::min(tokens.size(), static_cast<std::size_t>(options.truncate)));
    Sentences source;
    special_tokens().add_source(source, tokens);
    SearchOptions how = search_options_of(options, config_.target, {&first, 1}, source);
    require(!how.sampling, "a search tree needs beam search. Turn sampling off.");
    how.beam = std::max<Index>(how.beam, 2);
    std::vector<SearchTree> trees;
    engine_->search(source, how, -1, &trees);
    return trees[0];
  }

  /// log P of each target token and of the end token, given the source.
  std::vector<double> log_probabilities(std::string_view source, std::string_view target) const {
    const std::lock_guard lock(engine().mutex);
    Sentences from, to;
    from.push_back(config_.source.encode(source));
    to.push_back(config_.target.encode(target));
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

  /// Aligns target words to source words by the attention of the last cross-attention layer.
  std::vector<WordLink> alignment(std::span<const Token> source, std::span<const Token> target) const {
    return align_by_last_layer(attention_maps(source, target), group_words(source, config_.source),
                               group_words(target, config_.target));
  }

  /// The probabilities of the next token after a target prefix: the whole vocabulary, most probable first.
  std::vector<TokenProbability> next_token(std::string_view source, std::string_view target) const {
    const std::lock_guard lock(engine().mutex);
    const auto p = models_[0]->next_token(special_tokens(), config_.source.encode(source), config_.target.encode(target));
    std::vector<TokenProbability> tokens;
    for (Token id = 0; id < config_.target.size(); ++id)
      tokens.push_back({id, config_.target.name(id), p[static_cast<std::size_t>(id)]});
    std::ranges::stable_sort(tokens, std::greater<>(), &TokenProbability::probability);
    return tokens;
  }

  /// Attention weights while the model reads `source` and decodes `target`.
  std::vector<AttentionMap> attention_maps(std::span<const Token> source, std::span<const Token> target) const {
    const std::lock_guard lock(engine().mutex);
    return models_[0]->attention_maps(special_tokens(), source, target);
  }

  const RunConfig& config() const { return config_; }
  AnyModel& model() const { return *models_[0]; }
  std::shared_ptr<AnyModel> shared_model() const { return models_[0]; }

 private:
  SearchEngine& engine() const {
    require(engine_ != nullptr, "this translator was moved from and has no model");
    return *engine_;
  }
  SpecialTokens special_tokens() const { return special_tokens_of(config_.source, config_.target); }
  RunConfig config_;
  std::vector<std::shared_ptr<AnyModel>> models_;  // one, or an ensemble; attention_maps and next_token use the first
  std::shared_ptr<SearchEngine> engine_;           // of the model or of the ensemble
};

}  // namespace attn
