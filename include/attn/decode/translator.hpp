#pragma once
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "attn/data/batches.hpp"
#include "attn/data/parallel_corpus.hpp"
#include "attn/decode/greedy.hpp"

namespace attn {

struct TranslatorOptions {
  Index limit = 256;                 // words of a translation
  Index truncate = keep_all_tokens;  // tokens of a source sentence
  Index batch = 64;                  // sentences decoded together
  Token never = -1;                  // a word that no translation holds, or none
};

/// Strings in, strings out: tokenises, translates sentences of similar length together, and puts the words back into text, in
/// the order in which the sentences came.
template <class Device, class Model, Tokenizer SourceTokenizer, Tokenizer TargetTokenizer = SourceTokenizer>
class Translator {
 public:
  Translator(Device& device, const Model& model, const SourceTokenizer& source, const TargetTokenizer& target,
             TranslatorOptions options = {})
      : device_(device), model_(model), source_(source), target_(target), options_(options) {}

  std::vector<std::string> operator()(const std::vector<std::string>& lines) const {
    std::vector<std::string> translations;
    for (const auto& tokens : decode(encode_lines(lines, source_, options_.truncate)))
      translations.push_back(target_.decode(tokens));
    return translations;
  }

  /// The same with tokens on both sides, special tokens left out.
  std::vector<std::vector<Token>> decode(const Sentences& sentences) const {
    std::vector<std::vector<Token>> translations(static_cast<std::size_t>(sentences.size()));
    std::vector<Index> order(translations.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return sentences.length(a) < sentences.length(b); });
    const SpecialTokens special_tokens = special_tokens_of(source_, target_);
    for (std::size_t first = 0; first < order.size(); first += static_cast<std::size_t>(options_.batch)) {
      const std::size_t last = std::min(order.size(), first + static_cast<std::size_t>(options_.batch));
      Sentences batch;
      for (std::size_t i = first; i < last; ++i) special_tokens.add_source(batch, sentences[order[i]]);
      auto decoded =
          greedy(device_, model_, batch, {special_tokens.begin, special_tokens.end, options_.limit, options_.never});
      for (std::size_t i = first; i < last; ++i)
        translations[static_cast<std::size_t>(order[i])] = std::move(decoded[i - first]);
    }
    return translations;
  }

 private:
  Device& device_;
  const Model& model_;
  const SourceTokenizer& source_;
  const TargetTokenizer& target_;
  TranslatorOptions options_;
};

}  // namespace attn
