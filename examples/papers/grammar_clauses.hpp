#pragma once
#include "papers/grammar_phrases.hpp"

/// Clauses of the bundled corpus: the objects of a verb and the German verb position.
namespace papers::grammar {

using namespace attn;

/// The English past tense is the German perfect: bought, hat gekauft.
enum class Tense { present, past, future, can, must, want, should };

/// One clause in both languages, split wherever the word order can differ.
struct Clause {
  struct {
    std::string subject, auxiliary, verb, base, complement, time;  // he | does | buys | buy | a book | every day
  } english{};
  struct {
    std::string subject, finite, pronouns, time, middle, last;  // er | ruft | sie | jeden Tag | im Garten | an
    bool separable = false;                                     // last is the prefix of the finite verb
  } german{};
};

/// Verb second, the subject first: er ruft sie jeden Tag an.
inline Phrase statement(const Clause& clause) {
  const auto& [e, g] = clause;
  return {join({e.subject, e.verb, e.complement, e.time}),
          join({g.subject, g.finite, g.pronouns, g.time, g.middle, g.last})};
}

/// Verb second, something else first, so that the subject follows the verb: heute ruft er sie an.
inline Phrase statement_after(const Phrase& front, const Clause& clause) {
  const auto& [e, g] = clause;
  return {join({front.english, e.subject, e.verb, e.complement, e.time}),
          join({front.german, g.finite, g.subject, g.pronouns, g.time, g.middle, g.last})};
}

/// A question. A yes-no question if `asked` is empty: wann ruft er sie an, ruft er sie an.
inline Phrase question(const Phrase& asked, const Clause& clause) {
  const auto& [e, g] = clause;
  return {join({asked.english, e.auxiliary, e.subject, e.base, e.complement, e.time}),
          join({asked.german, g.finite, g.subject, g.pronouns, g.time, g.middle, g.last})};
}

/// Verb last: weil er sie jeden Tag anruft.
inline Phrase subordinate(const Phrase& conjunction, const Clause& clause) {
  const auto& [e, g] = clause;
  const std::string verbs = g.separable ? g.last + g.finite : join({g.last, g.finite});
  return {join({conjunction.english, e.subject, e.verb, e.complement, e.time}),
          join({conjunction.german, g.subject, g.pronouns, g.time, g.middle, verbs})};
}

/// An event: a subject does something.
struct Event {
  NounPhrase subject{};
  const Verb* verb = nullptr;
  Tense tense = Tense::present;
  bool negated = false;
  std::optional<NounPhrase> recipient{}, object{};  // dative, accusative
  Phrase adverb{};                                  // often: before the English verb
  Phrase adjunct{};                                 // in the garden, with my sister
  Phrase time{};                                    // every day
};

namespace detail {

inline void conjugate(Clause& clause, const Event& event) {
  const Verb& verb = *event.verb;
  const bool plural = event.subject.plural();
  const auto agree = [plural](const char* one, const char* several) -> std::string { return plural ? several : one; };
  auto& [e, g] = clause;
  e.base = verb.english;
  g.last = std::string(verb.prefix) + verb.german;
  switch (event.tense) {
    case Tense::present:
      e.auxiliary = agree("does", "do"), e.verb = agree(verb.english_third, verb.english);
      g.finite = agree(verb.german_third, verb.german), g.last = verb.prefix, g.separable = !g.last.empty();
      break;
    case Tense::past:
      e.auxiliary = "did", e.verb = verb.english_past;
      g.finite = verb.with_sein ? agree("ist", "sind") : agree("hat", "haben"), g.last = verb.participle;
      break;
    case Tense::future:
      e.auxiliary = "will", g.finite = agree("wird", "werden");
      break;
    case Tense::can:
      e.auxiliary = "can", g.finite = agree("kann", "können");
      break;
    case Tense::must:
      e.auxiliary = "must", g.finite = agree("muss", "müssen");
      break;
    case Tense::should:
      e.auxiliary = "should", g.finite = agree("sollte", "sollten");
      break;
    case Tense::want:
      e.auxiliary = agree("does", "do"), e.base = "want to " + e.base;
      e.verb = join({agree("wants to", "want to"), verb.english});
      g.finite = agree("will", "wollen");
  }
  e.base = join({event.negated ? "not" : event.adverb.english, e.base});
  if (event.negated) {
    e.verb = e.auxiliary == "can" ? "can" + e.base : join({e.auxiliary, e.base});  // cannot buy
  } else {
    e.verb = e.verb.empty() ? join({e.auxiliary, e.base}) : join({event.adverb.english, e.verb});
  }
}

}  // namespace detail

inline Clause clause(const Event& event) {
  Clause clause;
  detail::conjugate(clause, event);
  auto& e = clause.english;
  auto& g = clause.german;
  e.subject = english(event.subject);
  g.subject = german(event.subject, Case::nominative);
  g.time = join({event.time.german, event.adverb.german});
  e.time = event.time.english;

  // Pronouns come first. Negation turns an indefinite object's article into kein, else adds nicht at the end.
  std::string objects;
  bool denied = !event.negated;
  const auto add = [&](const std::optional<NounPhrase>& object, Case grammatical_case) {
    if (!object) return;
    e.complement = join({e.complement, english(*object, true)});
    NounPhrase phrase = *object;
    if (!denied && phrase.indefinite()) phrase.determiner = Determiner::no, denied = true;
    std::string& place = phrase.pronoun ? g.pronouns : objects;
    place = join({place, german(phrase, grammatical_case)});
  };
  add(event.recipient, Case::dative);
  add(event.object, Case::accusative);
  e.complement = join({e.complement, event.adjunct.english});
  g.middle = join({event.adjunct.german, objects, denied ? "" : "nicht"});
  return clause;
}

/// A clause with "to be": subject, predicate and optional time.
inline Clause being(const NounPhrase& subject, bool past, bool negated, const Phrase& what, const Phrase& time = {}) {
  const bool plural = subject.plural();
  Clause clause;
  auto& [e, g] = clause;
  e.subject = english(subject), e.complement = what.english, e.time = time.english;
  e.auxiliary = past ? (plural ? "were" : "was") : (plural ? "are" : "is");
  e.base = negated ? "not" : "";
  e.verb = join({e.auxiliary, e.base});
  g.subject = german(subject, Case::nominative), g.time = time.german;
  g.finite = past ? (plural ? "waren" : "war") : (plural ? "sind" : "ist");
  g.middle = join({negated ? "nicht" : "", what.german});
  return clause;
}

/// this picture costs 20 euros
inline Clause costing(const NounPhrase& subject, const Phrase& price) {
  Clause clause;
  auto& [e, g] = clause;
  e.subject = english(subject), e.auxiliary = subject.plural() ? "do" : "does", e.base = "cost";
  e.verb = subject.plural() ? "cost" : "costs", e.complement = price.english + " euros";
  g.subject = german(subject, Case::nominative), g.finite = subject.plural() ? "kosten" : "kostet";
  g.middle = price.german + " Euro";
  return clause;
}

/// there is a dog in the garden: German uses "es gibt" with the accusative.
inline Clause existing(const NounPhrase& what, const Phrase& place) {
  Clause clause;
  auto& [e, g] = clause;
  e.subject = "there", e.auxiliary = e.verb = what.plural() ? "are" : "is";
  e.complement = join({english(what), place.english});
  g.subject = "es", g.finite = "gibt", g.middle = join({german(what, Case::accusative), place.german});
  return clause;
}

}  // namespace papers::grammar
