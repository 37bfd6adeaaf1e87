#pragma once
#include "attn/align/lexical_table.hpp"
#include "attn/data/word_alignments.hpp"
#include "attn/text/word_vocabulary.hpp"

namespace attn {

/// Translates single words by a lexical table and its vocabularies, which may be larger than the model's. Copies words that
/// the table does not contain, such as most names.
class WordTranslation {
 public:
  WordTranslation(const LexicalTable& table, const WordVocabulary& source, const WordVocabulary& target)
      : table_(table), source_(source), target_(target) {}

  std::string operator()(std::string_view word) const {
    if (!source_.contains(word)) return std::string(word);
    for (const Token best : table_.best(source_.id(word), 2))  // the second if the best is <unk>
      if (best >= WordVocabulary::special_tokens && best < target_.size()) return target_.name(best);
    return std::string(word);
  }

 private:
  const LexicalTable& table_;
  const WordVocabulary &source_, &target_;
};

/// Replaces every `unknown` in a translation by translate(source word) of its linked source word (Luong et al. 2015). Keeps
/// `unknown` if there is no link. The first link of a word wins.
template <std::invocable<const std::string&> Translate>
std::vector<std::string> replace_unknown(std::span<const std::string> translation, std::string_view unknown,
                                         std::span<const WordLink> links, std::span<const std::string> source,
                                         const Translate& translate) {
  std::vector<std::string> words(translation.begin(), translation.end());
  std::vector<bool> replaced(words.size());
  for (const WordLink& link : links) {
    require(link.source >= 0 && link.source < std::ssize(source) && link.target >= 0 && link.target < std::ssize(words),
            "replace_unknown: the link ", link.source, "-", link.target, " is out of range for ", source.size(),
            " source words and ", words.size(), " words of the translation");
    const auto at = static_cast<std::size_t>(link.target);
    if (replaced[at] || translation[at] != unknown) continue;
    words[at] = translate(source[static_cast<std::size_t>(link.source)]);
    replaced[at] = true;
  }
  return words;
}

}  // namespace attn
