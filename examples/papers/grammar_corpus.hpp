#pragma once
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"
#include "papers/grammar_choices.hpp"

namespace papers {

using namespace attn;

struct SentencePair {
  std::string english, german;

  bool operator==(const SentencePair&) const = default;
};

/// An endless English-German corpus from a small grammar and lexicon. It needs no download, and a seed gives the same text
/// on every machine. It covers agreement of articles and adjectives in three genders and cases, verb-second and verb-final
/// clauses, separable verbs, clause-final participles and infinitives, kein and nicht, reversed digits in number words, and
/// pronouns whose gender depends on a distant noun. German is a function of English: each sentence has one translation, so
/// a perfect model scores BLEU 100.
///
/// Layers, one header each: lexicon, phrases (agreement), clauses (word order), choices (randomness), sentences (this
/// file).
class GrammarCorpus {
 public:
  explicit GrammarCorpus(std::uint64_t seed) : choices_(seed) {}

  /// The next pair, 4 to 25 words long in both languages. Pairs can repeat; see generate_pairs.
  SentencePair next() {
    const auto fits = [](const std::string& text) {
      const auto words = 1 + std::ranges::count(text, ' ');
      return words >= 4 && words <= 25;
    };
    while (true) {
      SentencePair pair = sentence();
      if (fits(pair.english) && fits(pair.german)) return pair;
    }
  }

 private:
  using Phrase = grammar::Phrase;
  using NounPhrase = grammar::NounPhrase;
  using Clause = grammar::Clause;
  using Event = grammar::Event;
  using Case = grammar::Case;
  using Tense = grammar::Tense;
  using Determiner = grammar::Determiner;

  SentencePair sentence() {
    static constexpr std::string_view kinds = "mmmmmmmmqqqqccccttpprr";  // frequencies
    switch (choices_.pick(kinds)) {
      case 'q':
        return finish(question(), '?');
      case 'c':
        return finish(two_clauses(), '.');
      case 't':
        return finish(that_clause(), '.');
      case 'p':
        return finish(pronoun_clause(), '.');
      case 'r':
        return finish(relative_clause(), '.');
      default:
        return finish(main_clause(), '.');
    }
  }

  static SentencePair finish(Phrase phrase, char mark) {
    for (std::string* text : {&phrase.english, &phrase.german}) {
      // ASCII suffices: no sentence starts with an umlaut.
      text->front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text->front())));
      *text += mark;
    }
    return {std::move(phrase.english), std::move(phrase.german)};
  }

  static Phrase with_comma(const Phrase& first, const Phrase& dependent) {
    return {first.english + ' ' + dependent.english, first.german + ", " + dependent.german};
  }

  /// A statement with the subject, a time or a place first.
  Phrase main_clause() {
    if (choices_.chance(0.3)) return statement(choices_.chance(0.5) ? choices_.state() : choices_.count());
    Event event = choices_.event(choices_.tense());
    Phrase front;
    if (choices_.chance(0.6)) std::swap(front, event.time);
    const bool room = front.english.empty() && event.adjunct.english.empty() && !event.negated;
    if (room && choices_.chance(0.15)) front = choices_.place();
    return front.english.empty() ? statement(clause(event)) : statement_after(front, clause(event));
  }

  Phrase question() {
    if (choices_.chance(0.4)) return grammar::question({}, choices_.any_clause(choices_.tense()));
    Event event = choices_.event(choices_.tense());
    if (choices_.chance(0.2)) return grammar::question({"why", "warum"}, clause(event));
    event.negated = false;
    if (choices_.chance(0.3)) {
      event.time = event.adjunct = {};
      return grammar::question(choices_.chance(0.5) ? Phrase{"where", "wo"} : Phrase{"when", "wann"}, clause(event));
    }
    if (event.verb->frame == grammar::Frame::none || choices_.chance(0.35)) {
      event.subject = NounPhrase{.pronoun = &grammar::he};  // "who" is a third person singular
      Clause asking = clause(event);
      asking.english.subject = "who", asking.german.subject = "wer";
      return statement(asking);
    }
    return question_about_object(event);
  }

  /// Moves the object in question to the front. It keeps its German case.
  Phrase question_about_object(Event event) {
    const Case asked_case = event.object ? Case::accusative : Case::dative;
    std::optional<NounPhrase>& asked = event.object ? event.object : event.recipient;
    NounPhrase what = *asked;
    asked.reset();
    event.adjunct = {};
    const Clause rest = clause(event);
    const unsigned kinds = kinds_of(what);
    if (what.pronoun || (kinds & grammar::person && choices_.chance(0.5))) {
      return grammar::question({"who", asked_case == Case::accusative ? "wen" : "wem"}, rest);
    }
    if (kinds & (grammar::thing | grammar::food) && choices_.chance(0.4)) return grammar::question({"what", "was"}, rest);
    what.number = 0;
    what.determiner = what.several ? Determiner::a : Determiner::which;
    const char* many = asked_case == Case::accusative ? "wie viele" : "wie vielen";
    return grammar::question({grammar::join({what.several ? "how many" : "", english(what)}),
                              grammar::join({what.several ? many : "", german(what, asked_case)})},
                             rest);
  }

  /// Two clauses with because, although or if. The subordinate clause comes last or first.
  Phrase two_clauses() {
    static constexpr const char* conjunctions[][2] = {{"because", "weil"}, {"although", "obwohl"}, {"if", "wenn"}};
    const auto& [english, german] = choices_.pick(conjunctions);
    const Tense tense = choices_.tense();
    const bool past = tense == Tense::past && *english != 'i';
    const Clause main = clause(choices_.event(tense == Tense::past && !past ? Tense::future : tense));
    const Phrase side = subordinate({english, german}, choices_.any_clause(past ? Tense::past : Tense::present));
    if (choices_.chance(0.35)) return statement_after({side.english + ',', side.german + ','}, main);
    return with_comma(statement(main), side);
  }

  /// Somebody knows, believes, says or hopes that ...
  Phrase that_clause() {
    const grammar::ThatVerb& verb = choices_.pick(grammar::that_verbs);
    const NounPhrase who = choices_.subject(grammar::person);
    const Phrase opening{grammar::join({english(who), who.plural() ? verb.english : verb.english_third}),
                         grammar::join({german(who, Case::nominative), who.plural() ? verb.german : verb.german_third})};
    return with_comma(opening, subordinate({"that", "dass"}, choices_.any_clause(choices_.tense())));
  }

  /// A reason about an earlier noun, with er, sie or es by its gender. Only one noun can be the antecedent of "it", so the
  /// translation is unambiguous.
  Phrase pronoun_clause() {
    NounPhrase named;
    Clause main;
    const grammar::Adjective* said = nullptr;  // adjective of the main clause, excluded from the reason
    if (choices_.chance(0.3)) {
      named = choices_.subject(grammar::thing | grammar::food | grammar::animal);
      named.adjective = nullptr;
      said = &choices_.adjective_for(named.noun->kinds);
      main = being(named, false, false, {said->english, said->german});
    } else {
      const Tense tense = choices_.tense();
      Event event = choices_.bare_event(tense, choices_.subject(grammar::person));
      const bool about_object = event.object && !event.recipient && !(kinds_of(*event.object) & grammar::person);
      if (about_object && event.object->indefinite()) event.object->determiner = Determiner::the;
      named = about_object ? *event.object : event.subject;
      said = named.adjective;
      main = clause(event);
    }
    const Phrase reason = choices_.degree(choices_.adjective_for(kinds_of(named), said));
    NounPhrase again{.pronoun = pronoun_for(named)};
    if (!again.pronoun) again = NounPhrase{.noun = named.noun};  // no pronoun for a child or a girl: repeats "the child"
    const Phrase conjunction = choices_.chance(0.5) ? Phrase{"because", "weil"} : Phrase{"although", "obwohl"};
    return with_comma(statement(main), subordinate(conjunction, being(again, false, false, reason)));
  }

  /// "the man who helps the child is old", "the book that the woman buys is new"
  Phrase relative_clause() {
    const bool who = choices_.chance(0.5);
    NounPhrase head;
    Phrase relative;
    if (who) {
      head = choices_.noun_phrase(grammar::person);
      Clause inner = clause(choices_.bare_event(choices_.tense(), head));
      inner.english.subject = "who", inner.german.subject = relative_pronoun(head, Case::nominative);
      relative = subordinate({}, inner);
    } else {
      Event event;
      do {
        const Tense tense = choices_.tense();
        event = choices_.bare_event(tense, choices_.subject(grammar::person));
      } while (!event.object || event.recipient || kinds_of(*event.object) & grammar::person);
      head = *event.object;
      event.object.reset();
      relative = subordinate({"that", relative_pronoun(head, Case::accusative)}, clause(event));
    }
    if (head.indefinite() && !head.number) head.determiner = Determiner::the;
    Clause main = who && choices_.chance(0.5) ? clause(choices_.bare_event(choices_.tense(), head)) : choices_.state(head);
    main.english.subject += ' ' + relative.english;
    main.german.subject += ", " + relative.german + ',';
    return statement(main);
  }

  grammar::Choices choices_;
};

/// The first `count` distinct pairs of a seed. No English sentence repeats.
inline std::vector<SentencePair> generate_pairs(Index count, std::uint64_t seed) {
  require(count >= 0, "generate_pairs: cannot generate ", count, " pairs; ask for 0 or more");
  GrammarCorpus corpus(seed);
  std::vector<SentencePair> pairs;
  std::unordered_set<std::string> seen;
  while (std::ssize(pairs) < count) {
    SentencePair pair = corpus.next();
    if (seen.insert(pair.english).second) pairs.push_back(std::move(pair));
  }
  return pairs;
}

/// Training, validation and test pairs without overlap.
struct CorpusSplit {
  std::vector<SentencePair> train, validation, test;
};

/// Splits distinct pairs. Validation and test come first in the seed's sequence, so they do not depend on the training
/// size.
inline CorpusSplit generate_split(Index train, Index validation, Index test, std::uint64_t seed) {
  require(train >= 0 && validation >= 0 && test >= 0, "generate_split: cannot generate ", train, " + ", validation, " + ",
          test, " pairs; ask for 0 or more of each");
  std::vector<SentencePair> pairs = generate_pairs(train + validation + test, seed);
  const auto from = std::make_move_iterator(pairs.begin()), to = std::make_move_iterator(pairs.end());
  const Index held_out = validation + test;
  return {{from + held_out, to}, {from, from + validation}, {from + validation, from + held_out}};
}

}  // namespace papers
