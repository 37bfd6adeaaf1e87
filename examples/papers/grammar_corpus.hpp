#pragma once
#include <cctype>
#include <unordered_set>

#include "attn/data/parallel_text.hpp"
#include "papers/grammar_choices.hpp"

namespace papers::grammar {

/// An endless English-German corpus from a small grammar and lexicon. It needs no download, and a seed gives the same text
/// on every machine. It covers agreement of articles and adjectives in three genders and cases, verb-second and verb-final
/// clauses, separable verbs, clause-final participles and infinitives, kein and nicht, reversed digits in number words, and
/// pronouns whose gender depends on a distant noun. German is a function of English: each sentence has one translation, so
/// a perfect model scores BLEU 100.
///
/// Layers, one header each: lexicon, phrases (agreement), clauses (word order), choices (randomness), sentences (this
/// file).
class GrammarCorpus : Choices {
 public:
  using Choices::Choices;  // from a seed

  /// The next pair, 4 to 25 words long in both languages. Pairs can repeat; see generate_pairs.
  Phrase next() {
    const auto fits = [](const std::string& text) {
      const auto words = 1 + std::ranges::count(text, ' ');
      return words >= 4 && words <= 25;
    };
    while (true) {
      Phrase pair = sentence();
      if (fits(pair.english) && fits(pair.german)) return pair;
    }
  }

 private:
  Phrase sentence() {
    static constexpr std::string_view kinds = "mmmmmmmmqqqqccccttpprr";  // frequencies
    const char kind = pick(kinds);
    if (kind == 'q') return finish(any_question(), '?');
    return finish(kind == 'c'   ? two_clauses()
                  : kind == 't' ? that_clause()
                  : kind == 'p' ? pronoun_clause()
                  : kind == 'r' ? relative_clause()
                                : main_clause(),
                  '.');
  }

  static Phrase finish(Phrase phrase, char mark) {
    for (std::string* text : {&phrase.english, &phrase.german}) {
      // ASCII suffices: no sentence starts with an umlaut.
      text->front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text->front())));
      *text += mark;
    }
    return phrase;
  }

  static Phrase with_comma(const Phrase& first, const Phrase& dependent) {
    return {first.english + ' ' + dependent.english, first.german + ", " + dependent.german};
  }

  /// A statement with the subject, a time or a place first.
  Phrase main_clause() {
    if (chance(0.3)) return statement(chance(0.5) ? state() : count());
    Event event = any_event(any_tense());
    Phrase front;
    if (chance(0.6)) std::swap(front, event.time);
    const bool room = front.english.empty() && event.adjunct.english.empty() && !event.negated;
    if (room && chance(0.15)) front = place();
    return front.english.empty() ? statement(clause(event)) : statement_after(front, clause(event));
  }

  Phrase any_question() {
    if (chance(0.4)) return question({}, any_clause(any_tense()));
    Event event = any_event(any_tense());
    if (chance(0.2)) return question({"why", "warum"}, clause(event));
    event.negated = false;
    if (chance(0.3)) {
      event.time = event.adjunct = {};
      return question(chance(0.5) ? Phrase{"where", "wo"} : Phrase{"when", "wann"}, clause(event));
    }
    if (event.verb->frame == Frame::none || chance(0.35)) {
      event.subject = NounPhrase{.pronoun = &he};  // "who" is a third person singular
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
    if (what.pronoun || (kinds & person && chance(0.5))) {
      return question({"who", asked_case == Case::accusative ? "wen" : "wem"}, rest);
    }
    if (kinds & (thing | food) && chance(0.4)) return question({"what", "was"}, rest);
    what.number = 0;
    what.determiner = what.several ? Determiner::a : Determiner::which;
    const char* many = asked_case == Case::accusative ? "wie viele" : "wie vielen";
    return question(
        {join({what.several ? "how many" : "", english(what)}), join({what.several ? many : "", german(what, asked_case)})},
        rest);
  }

  /// Two clauses with because, although or if. The subordinate clause comes last or first.
  Phrase two_clauses() {
    static constexpr const char* conjunctions[][2] = {{"because", "weil"}, {"although", "obwohl"}, {"if", "wenn"}};
    const auto& [english, german] = pick(conjunctions);
    const Tense tense = any_tense();
    const bool past = tense == Tense::past && *english != 'i';
    const Clause main = clause(any_event(tense == Tense::past && !past ? Tense::future : tense));
    const Phrase side = subordinate({english, german}, any_clause(past ? Tense::past : Tense::present));
    if (chance(0.35)) return statement_after({side.english + ',', side.german + ','}, main);
    return with_comma(statement(main), side);
  }

  /// Somebody knows, believes, says or hopes that ...
  Phrase that_clause() {
    const ThatVerb& verb = pick(that_verbs);
    const NounPhrase who = subject(person);
    const Phrase opening{join({english(who), who.plural() ? verb.english : verb.english_third}),
                         join({german(who, Case::nominative), who.plural() ? verb.german : verb.german_third})};
    return with_comma(opening, subordinate({"that", "dass"}, any_clause(any_tense())));
  }

  /// A reason about an earlier noun, with er, sie or es by its gender. Only one noun can be the antecedent of "it", so the
  /// translation is unambiguous.
  Phrase pronoun_clause() {
    NounPhrase named;
    Clause main;
    const Adjective* said = nullptr;  // adjective of the main clause, excluded from the reason
    if (chance(0.3)) {
      named = subject(thing | food | animal);
      named.adjective = nullptr;
      said = &adjective_for(named.noun->kinds);
      main = being(named, false, false, {said->english, said->german});
    } else {
      const Tense tense = any_tense();
      Event event = bare_event(tense, subject(person));
      const bool about_object = event.object && !event.recipient && !(kinds_of(*event.object) & person);
      if (about_object && event.object->indefinite()) event.object->determiner = Determiner::the;
      named = about_object ? *event.object : event.subject;
      said = named.adjective;
      main = clause(event);
    }
    const Phrase reason = degree(adjective_for(kinds_of(named), said));
    NounPhrase again{.pronoun = pronoun_for(named)};
    if (!again.pronoun) again = NounPhrase{.noun = named.noun};  // no pronoun for a child or a girl: repeats "the child"
    const Phrase conjunction = chance(0.5) ? Phrase{"because", "weil"} : Phrase{"although", "obwohl"};
    return with_comma(statement(main), subordinate(conjunction, being(again, false, false, reason)));
  }

  /// "the man who helps the child is old", "the book that the woman buys is new"
  Phrase relative_clause() {
    const bool who = chance(0.5);
    NounPhrase head;
    Phrase relative;
    if (who) {
      head = noun_phrase(person);
      Clause inner = clause(bare_event(any_tense(), head));
      inner.english.subject = "who", inner.german.subject = relative_pronoun(head, Case::nominative);
      relative = subordinate({}, inner);
    } else {
      Event event;
      do {
        const Tense tense = any_tense();
        event = bare_event(tense, subject(person));
      } while (!event.object || event.recipient || kinds_of(*event.object) & person);
      head = *event.object;
      event.object.reset();
      relative = subordinate({"that", relative_pronoun(head, Case::accusative)}, clause(event));
    }
    if (head.indefinite() && !head.number) head.determiner = Determiner::the;
    Clause main = who && chance(0.5) ? clause(bare_event(any_tense(), head)) : state(head);
    main.english.subject += ' ' + relative.english;
    main.german.subject += ", " + relative.german + ',';
    return statement(main);
  }
};

}  // namespace papers::grammar

namespace papers {

using namespace attn;

/// The first `count` distinct pairs of a seed, English to German. No English sentence repeats.
inline ParallelText generate_pairs(Index count, std::uint64_t seed) {
  require(count >= 0, "generate_pairs: cannot generate ", count, " pairs; ask for 0 or more");
  grammar::GrammarCorpus corpus(seed);
  ParallelText pairs;
  std::unordered_set<std::string> seen;
  while (std::ssize(pairs.source) < count) {
    grammar::Phrase pair = corpus.next();
    if (!seen.insert(pair.english).second) continue;
    pairs.source.push_back(std::move(pair.english));
    pairs.target.push_back(std::move(pair.german));
  }
  return pairs;
}

/// Training, validation and test pairs without overlap.
struct CorpusSplit {
  ParallelText train, validation, test;
};

/// Splits distinct pairs. Validation and test come first in the seed's sequence, so they do not depend on the training
/// size.
inline CorpusSplit generate_split(Index train, Index validation, Index test, std::uint64_t seed) {
  require(train >= 0 && validation >= 0 && test >= 0, "generate_split: cannot generate ", train, " + ", validation, " + ",
          test, " pairs; ask for 0 or more of each");
  const ParallelText pairs = generate_pairs(train + validation + test, seed);
  const auto part = [&](Index first, Index count) {
    const auto lines = [&](const auto& all) { return std::vector(all.begin() + first, all.begin() + first + count); };
    return ParallelText{lines(pairs.source), lines(pairs.target)};
  };
  return {part(validation + test, train), part(0, validation), part(validation, test)};
}

}  // namespace papers
