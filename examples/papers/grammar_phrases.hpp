#pragma once
#include "attn/core/types.hpp"
#include "papers/grammar_lexicon.hpp"

/// Noun phrases of the bundled corpus: the agreement of articles, adjectives and nouns in gender, number and case.
namespace papers::grammar {

using namespace attn;

/// A phrase or a sentence in both languages.
struct Phrase {
  std::string english, german;

  bool operator==(const Phrase&) const = default;
};

/// Joins the non-empty parts with spaces.
inline std::string join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) {
    if (!text.empty() && !part.empty()) text += ' ';
    text += part;
  }
  return text;
}

/// A number in words, 2 to 12 or 20 to 39. German reverses tens and ones: twenty-one, einundzwanzig.
inline Phrase number_words(Index number) {
  static constexpr const char* english[] = {"",      "one",   "two",  "three", "four",   "five",  "six",
                                            "seven", "eight", "nine", "ten",   "eleven", "twelve"};
  static constexpr const char* german[] = {"",       "ein",  "zwei", "drei", "vier", "fünf", "sechs",
                                           "sieben", "acht", "neun", "zehn", "elf",  "zwölf"};
  static constexpr const char* english_tens[] = {"", "", "twenty", "thirty"};
  static constexpr const char* german_tens[] = {"", "", "zwanzig", "dreißig"};
  if (number <= 12) return {english[number], german[number]};
  const Index tens = number / 10, ones = number % 10;
  if (ones == 0) return {english_tens[tens], german_tens[tens]};
  return {std::string(english_tens[tens]) + '-' + english[ones], std::string(german[ones]) + "und" + german_tens[tens]};
}

enum class Case { nominative, accusative, dative };

/// The plural of "a" is empty.
enum class Determiner { the, these, which, a, no, my, his, her };

/// A pronoun, or a noun with its determiner, number and adjective.
struct NounPhrase {
  const Pronoun* pronoun = nullptr;
  const Noun* noun = nullptr;
  Determiner determiner = Determiner::the;
  bool several = false;
  Index number = 0;  // 0: no number
  const Adjective* adjective = nullptr;

  bool plural() const { return pronoun ? pronoun->plural : several; }
  bool possessive() const { return !pronoun && determiner >= Determiner::my; }
  bool indefinite() const { return !pronoun && determiner == Determiner::a; }
};

/// The semantic kinds of the phrase. Pronouns other than "it" are people.
inline unsigned kinds_of(const NounPhrase& phrase) { return phrase.pronoun ? unsigned{person} : phrase.noun->kinds; }

namespace detail {

using Endings = const char* [3][4];  // by case; masculine, feminine, neuter, plural

inline constexpr Endings article = {
    {"der", "die", "das", "die"}, {"den", "die", "das", "die"}, {"dem", "der", "dem", "den"}};
inline constexpr Endings like_dieser = {{"er", "e", "es", "e"}, {"en", "e", "es", "e"}, {"em", "er", "em", "en"}};
inline constexpr Endings like_ein = {{"", "e", "", "e"}, {"en", "e", "", "e"}, {"em", "er", "em", "en"}};
// An adjective shows the gender only if the determiner does not: der alte Mann, ein alter Mann, alte Männer.
inline constexpr Endings after_der = {{"e", "e", "e", "en"}, {"en", "e", "e", "en"}, {"en", "en", "en", "en"}};
inline constexpr Endings after_ein = {{"er", "e", "es", "en"}, {"en", "e", "es", "en"}, {"en", "en", "en", "en"}};
inline constexpr Endings after_nothing = {{"er", "e", "es", "e"}, {"en", "e", "es", "e"}, {"em", "er", "em", "en"}};

struct DeterminerForms {
  const char *english, *english_plural, *german_stem;
  bool like_der;  // else like ein
};

inline const DeterminerForms& forms_of(Determiner determiner) {
  static constexpr DeterminerForms forms[] = {{"the", "the", "", true},          {"this", "these", "dies", true},
                                              {"which", "which", "welch", true}, {"a", "", "ein", false},
                                              {"no", "no", "kein", false},       {"my", "my", "mein", false},
                                              {"his", "his", "sein", false},     {"her", "her", "ihr", false}};
  return forms[static_cast<int>(determiner)];
}

inline std::string pick_ending(const Endings& endings, const NounPhrase& phrase, Case grammatical_case) {
  return endings[static_cast<int>(grammatical_case)][phrase.several ? 3 : static_cast<int>(phrase.noun->gender)];
}

inline std::string german_noun(const NounPhrase& phrase, Case grammatical_case) {
  const Noun& noun = *phrase.noun;
  if (!phrase.several) return noun.weak && grammatical_case != Case::nominative ? noun.german_plural : noun.german;
  std::string word = noun.german_plural;
  if (grammatical_case == Case::dative && word.back() != 'n' && word.back() != 's') word += 'n';
  return word;
}

}  // namespace detail

inline std::string german(const NounPhrase& phrase, Case grammatical_case) {
  using namespace detail;
  if (phrase.pronoun) return phrase.pronoun->german[static_cast<int>(grammatical_case)];
  const auto ending = [&](const Endings& table) { return pick_ending(table, phrase, grammatical_case); };
  const DeterminerForms& forms = forms_of(phrase.determiner);
  const bool bare = phrase.several && phrase.indefinite();
  const Endings& endings = phrase.determiner == Determiner::the ? article : forms.like_der ? like_dieser : like_ein;
  const std::string determiner = bare ? "" : forms.german_stem + ending(endings);
  const std::string adjective_ending = ending(bare ? after_nothing : forms.like_der ? after_der : after_ein);
  const std::string adjective = phrase.adjective ? phrase.adjective->german_stem + adjective_ending : "";
  const std::string number = phrase.number ? number_words(phrase.number).german : "";
  return join({determiner, number, adjective, german_noun(phrase, grammatical_case)});
}

/// The English phrase. Only pronouns differ between subject and object.
inline std::string english(const NounPhrase& phrase, bool object = false) {
  if (phrase.pronoun) return object ? phrase.pronoun->english_object : phrase.pronoun->english;
  const std::string number = phrase.number ? number_words(phrase.number).english : "";
  const char* noun = phrase.several ? phrase.noun->english_plural : phrase.noun->english;
  const std::string rest = join({number, phrase.adjective ? phrase.adjective->english : "", noun});
  const detail::DeterminerForms& forms = detail::forms_of(phrase.determiner);
  const bool before_vowel = std::string_view("aeio").find(rest[0]) != std::string_view::npos;
  if (phrase.indefinite() && !phrase.several && before_vowel) return "an " + rest;
  return join({phrase.several ? forms.english_plural : forms.english, rest});
}

/// A preposition with its noun phrase. Contracts in dem to im and an dem to am.
inline Phrase prepositional(const char* english_preposition, const char* german_preposition, const NounPhrase& phrase,
                            Case grammatical_case) {
  std::string text = join({german_preposition, german(phrase, grammatical_case)});
  if (text.starts_with("in dem ")) text.replace(0, 6, "im");
  if (text.starts_with("an dem ")) text.replace(0, 6, "am");
  return {join({english_preposition, english(phrase, true)}), text};
}

/// The relative pronoun for the phrase, nominative or accusative: der, die, das, ...
inline std::string relative_pronoun(const NounPhrase& phrase, Case grammatical_case) {
  return detail::pick_ending(detail::article, phrase, grammatical_case);
}

/// The pronoun that can refer to a noun phrase later in the sentence. Null for a single child or girl: English needs he or
/// she, and the sentence does not say which.
inline const Pronoun* pronoun_for(const NounPhrase& phrase) {
  if (phrase.pronoun) return phrase.pronoun;
  if (phrase.several) return &they;
  const Gender gender = phrase.noun->gender;
  if (!(phrase.noun->kinds & person)) return &it[static_cast<int>(gender)];
  return gender == Gender::masculine ? &he : gender == Gender::feminine ? &she : nullptr;
}

}  // namespace papers::grammar
