#pragma once
#include "attn/core/random.hpp"
#include "papers/grammar_clauses.hpp"

namespace papers::grammar {

using namespace attn;

/// The random choices of the bundled corpus below the sentence level: words, phrases and clauses. No call takes two random
/// arguments: their evaluation order depends on the compiler, and a seed must give the same text everywhere.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : random_(seed) {}

  bool chance(double probability) { return random_.uniform() < probability; }

  template <class Table>
  const auto& pick(const Table& table) {
    return table[static_cast<std::size_t>(random_.below(std::ssize(table)))];
  }

  /// Picks an entry that meets the condition. At least one entry must.
  template <class Table, class Condition>
  const auto& pick_where(const Table& table, Condition condition) {
    while (true) {
      if (const auto& entry = pick(table); condition(entry)) return entry;
    }
  }

  // ---- Phrases ----

  /// A noun of these kinds, different from the noun of `other`, with a determiner and sometimes an adjective or a number.
  NounPhrase noun_phrase(unsigned kinds, const NounPhrase& other = {}) {
    using enum Determiner;
    static constexpr Determiner determiners[] = {the, the, the, the, a, a, my, his, her, these};
    NounPhrase phrase;
    phrase.noun = &pick_where(nouns, [&](const Noun& noun) { return noun.kinds & kinds && &noun != other.noun; });
    phrase.determiner = pick(determiners);
    if (phrase.possessive() && phrase.noun->kinds & unowned) phrase.determiner = the;
    phrase.several = chance(0.3);
    if (phrase.several && phrase.determiner == a && chance(0.7)) phrase.number = number();
    if (chance(0.35)) phrase.adjective = &adjective_for(phrase.noun->kinds);
    return phrase;
  }

  /// A phrase for the acting person, animal or thing. Never a bare plural, which would be generic.
  NounPhrase subject(unsigned kinds) {
    if (kinds & person && chance(0.25)) return personal_pronoun();
    NounPhrase phrase = noun_phrase(kinds);
    if (phrase.several && phrase.indefinite() && !phrase.number) phrase.determiner = Determiner::the;
    return phrase;
  }

  NounPhrase object(unsigned kinds, const NounPhrase& subject) {
    return kinds & person && chance(0.15) ? personal_pronoun(subject) : noun_phrase(kinds, subject);
  }

  /// An adjective for these kinds, different from `other`, to avoid "the old man is old".
  const Adjective& adjective_for(unsigned kinds, const Adjective* other = nullptr) {
    return pick_where(adjectives, [&](const Adjective& entry) { return entry.kinds & kinds && &entry != other; });
  }

  Phrase place() {
    if (chance(0.08)) {
      const std::string room = std::to_string(1 + random_.below(99));
      return {"in room " + room, "in Zimmer " + room};
    }
    const Place& place = pick(places);
    NounPhrase phrase{.noun = &place.noun, .determiner = chance(0.8) ? Determiner::the : Determiner::a};
    if (chance(0.2)) phrase.adjective = &adjective_for(location);
    return prepositional(place.english_preposition, place.german_preposition, phrase, Case::dative);
  }

  /// A time expression. A negated habit ("not every day") needs another word order, so a negated present only gets "today".
  Phrase time(Tense tense, bool negated) {
    if (tense == Tense::past) {
      static constexpr const char* units[][2] = {{"days", "Tagen"}, {"weeks", "Wochen"}, {"years", "Jahren"}};
      if (chance(0.3)) return {"yesterday", "gestern"};
      if (chance(0.3)) return {"last week", "letzte Woche"};
      if (chance(0.3)) {
        const std::string year = std::to_string(1980 + random_.below(40));
        return {"in " + year, "im Jahr " + year};
      }
      const auto& [english, german] = pick(units);
      const Phrase count = number_words(number());
      return {join({count.english, english, "ago"}), join({"vor", count.german, german})};
    }
    if (chance(0.3) || (negated && tense == Tense::present)) return {"today", "heute"};
    if (chance(0.3)) {
      const std::string hour = std::to_string(1 + random_.below(12));
      return {"at " + hour + " o'clock", "um " + hour + " Uhr"};
    }
    if (tense == Tense::present)
      return chance(0.6) ? Phrase{"every day", "jeden Tag"} : Phrase{"in the evening", "am Abend"};
    if (chance(0.4)) return {"tomorrow", "morgen"};
    if (chance(0.4)) return {"next week", "nächste Woche"};
    const Phrase count = number_words(number());
    return {join({"in", count.english, "days"}), join({"in", count.german, "Tagen"})};
  }

  // ---- Clauses ----

  Tense any_tense() {
    using enum Tense;
    static constexpr Tense tenses[] = {present, present, present, present, past, past,
                                       past,    future,  can,     must,    want, should};
    return pick(tenses);
  }

  /// A random verb for the subject, with its objects only.
  Event bare_event(Tense tense, const NounPhrase& subject) {
    Event event{.subject = subject, .tense = tense};
    event.verb = &pick_where(verbs, [&](const Verb& verb) { return verb.subjects & kinds_of(subject); });
    const unsigned objects = event.verb->objects;
    switch (event.verb->frame) {
      case Frame::none:
        break;
      case Frame::accusative:
        event.object = object(objects, subject);
        break;
      case Frame::dative:
        event.recipient = object(objects, subject);
        break;
      case Frame::dative_accusative:
        event.recipient = object(person, subject), event.object = noun_phrase(objects);
    }
    return event;
  }

  /// An event, negated or with optional time, adverb and adjunct.
  Event any_event(Tense tense) {
    Event event = bare_event(tense, subject(chance(0.85) ? person : animal));
    event.negated = tense != Tense::must && chance(0.2);  // "must not" differs in meaning from "muss nicht"
    if (chance(0.35)) event.time = time(tense, event.negated);
    if (event.negated) {
      if (event.recipient) event.recipient->number = 0;
      if (event.object) event.object->number = 0;
      return event;
    }
    if (tense == Tense::present && event.time.english.empty() && chance(0.25)) {
      static constexpr const char* adverbs[][2] = {{"often", "oft"}, {"always", "immer"}, {"sometimes", "manchmal"}};
      const auto& [english, german] = pick(adverbs);
      event.adverb = {english, german};
    }
    if (chance(0.35)) event.adjunct = adjunct(event);
    return event;
  }

  /// A clause about a property: "the house is very old".
  Clause state(const NounPhrase& subject) {
    const unsigned kinds = kinds_of(subject);
    const Adjective& adjective = adjective_for(kinds, subject.adjective);
    Phrase what = degree(adjective);
    if (chance(0.1)) {
      const NounPhrase other = noun_phrase(kinds, subject);
      what.english = join({"as", adjective.english, "as", english(other, true)});
      what.german = join({"so", adjective.german, "wie", german(other, Case::nominative)});
    }
    const bool past = chance(0.25), negated = chance(0.2);
    return being(subject, past, negated, what, past && chance(0.3) ? time(Tense::past, negated) : Phrase{});
  }
  Clause state() {
    static constexpr unsigned kinds[] = {person, animal, thing, thing, food};
    return state(subject(pick(kinds)));
  }

  /// old, very old, too old
  Phrase degree(const Adjective& adjective) {
    if (chance(0.6)) return {adjective.english, adjective.german};
    const bool very = chance(0.5);
    return {join({very ? "very" : "too", adjective.english}), join({very ? "sehr" : "zu", adjective.german})};
  }

  /// A clause with a price, an age or "there is".
  Clause count() {
    if (chance(0.4)) {
      const std::string digits = std::to_string(2 + random_.below(98));
      const NounPhrase what = subject(thing | food);
      return costing(what, chance(0.5) ? Phrase{digits, digits} : number_words(number()));
    }
    if (chance(0.5)) {
      const Phrase years = number_words(20 + random_.below(20));
      const NounPhrase who = subject(person);
      const bool past = chance(0.2), negated = chance(0.2);
      return being(who, past, negated, {years.english + " years old", years.german + " Jahre alt"});
    }
    NounPhrase what = noun_phrase(person | animal | thing);
    what.determiner = chance(0.8) ? Determiner::a : Determiner::no;
    if (what.determiner == Determiner::no) what.number = 0;
    return existing(what, place());
  }

  Clause any_clause(Tense tense) { return chance(0.75) ? clause(any_event(tense)) : chance(0.65) ? state() : count(); }

 private:
  Index number() { return chance(0.7) ? 2 + random_.below(11) : 20 + random_.below(20); }

  NounPhrase personal_pronoun(const NounPhrase& other = {}) {
    static constexpr const Pronoun* pronouns[] = {&he, &she, &we, &they};
    return {.pronoun = pick_where(pronouns, [&](const Pronoun* pronoun) { return pronoun != other.pronoun; })};
  }

  Phrase adjunct(const Event& event) {
    if (event.verb->for_someone && chance(0.6)) {
      return prepositional("for", "für", object(person, event.subject), Case::accusative);
    }
    if (event.verb->frame != Frame::none || chance(0.5)) return place();
    return chance(0.7) ? prepositional("with", "mit", object(person, event.subject), Case::dative)
                       : prepositional("without", "ohne", object(person, event.subject), Case::accusative);
  }

  Random random_;
};

}  // namespace papers::grammar
