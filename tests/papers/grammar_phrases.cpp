#include "papers/grammar_phrases.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace papers::grammar;

namespace {

template <class Table>
const auto* find(const Table& table, std::string_view english) {
  for (const auto& entry : table)
    if (entry.english == english) return &entry;
  FAIL("the lexicon has no ", english);
  return &table[0];
}

NounPhrase phrase(Determiner determiner, const char* adjective, const char* noun, bool several = false,
                  attn::Index number = 0) {
  return {.noun = find(nouns, noun),
          .determiner = determiner,
          .several = several,
          .number = number,
          .adjective = *adjective ? find(adjectives, adjective) : nullptr};
}

/// Nominative, accusative and dative.
std::string cases(const NounPhrase& phrase) {
  return german(phrase, Case::nominative) + ", " + german(phrase, Case::accusative) + ", " + german(phrase, Case::dative);
}

}  // namespace

TEST_CASE("grammar phrases: the adjective is weak after der") {
  CHECK(cases(phrase(Determiner::the, "old", "man")) == "der alte Mann, den alten Mann, dem alten Mann");
  CHECK(cases(phrase(Determiner::the, "old", "woman")) == "die alte Frau, die alte Frau, der alten Frau");
  CHECK(cases(phrase(Determiner::the, "old", "house")) == "das alte Haus, das alte Haus, dem alten Haus");
  CHECK(cases(phrase(Determiner::the, "old", "house", true)) == "die alten Häuser, die alten Häuser, den alten Häusern");
  CHECK(cases(phrase(Determiner::these, "new", "table")) == "dieser neue Tisch, diesen neuen Tisch, diesem neuen Tisch");
  CHECK(cases(phrase(Determiner::these, "", "lamp", true)) == "diese Lampen, diese Lampen, diesen Lampen");
  CHECK(cases(phrase(Determiner::which, "red", "car")) == "welches rote Auto, welches rote Auto, welchem roten Auto");
}

TEST_CASE("grammar phrases: the adjective after ein shows the gender") {
  CHECK(cases(phrase(Determiner::a, "young", "dog")) == "ein junger Hund, einen jungen Hund, einem jungen Hund");
  CHECK(cases(phrase(Determiner::a, "young", "cat")) == "eine junge Katze, eine junge Katze, einer jungen Katze");
  CHECK(cases(phrase(Determiner::a, "young", "horse")) == "ein junges Pferd, ein junges Pferd, einem jungen Pferd");
  CHECK(cases(phrase(Determiner::no, "good", "egg")) == "kein gutes Ei, kein gutes Ei, keinem guten Ei");
  CHECK(cases(phrase(Determiner::no, "good", "apple", true)) ==
        "keine guten Äpfel, keine guten Äpfel, keinen guten Äpfeln");
  CHECK(cases(phrase(Determiner::my, "sick", "sister")) ==
        "meine kranke Schwester, meine kranke Schwester, meiner kranken Schwester");
  CHECK(cases(phrase(Determiner::his, "", "brother", true)) == "seine Brüder, seine Brüder, seinen Brüdern");
  CHECK(cases(phrase(Determiner::her, "clever", "child")) == "ihr kluges Kind, ihr kluges Kind, ihrem klugen Kind");
}

TEST_CASE("grammar phrases: the adjective without a determiner is strong") {
  CHECK(cases(phrase(Determiner::a, "small", "child", true)) == "kleine Kinder, kleine Kinder, kleinen Kindern");
  CHECK(cases(phrase(Determiner::a, "small", "child", true, 3)) ==
        "drei kleine Kinder, drei kleine Kinder, drei kleinen Kindern");
  CHECK(cases(phrase(Determiner::the, "small", "child", true, 21)) ==
        "die einundzwanzig kleinen Kinder, die einundzwanzig kleinen Kinder, den einundzwanzig kleinen Kindern");
}

TEST_CASE("grammar phrases: irregular adjective stems") {
  CHECK(cases(phrase(Determiner::a, "expensive", "coat")) == "ein teurer Mantel, einen teuren Mantel, einem teuren Mantel");
  CHECK(cases(phrase(Determiner::a, "tired", "girl")) == "ein müdes Mädchen, ein müdes Mädchen, einem müden Mädchen");
}

TEST_CASE("grammar phrases: weak nouns and the dative plural") {
  CHECK(cases(phrase(Determiner::the, "", "boy")) == "der Junge, den Jungen, dem Jungen");
  CHECK(cases(phrase(Determiner::a, "", "student")) == "ein Student, einen Studenten, einem Studenten");
  CHECK(cases(phrase(Determiner::the, "", "neighbour", true)) == "die Nachbarn, die Nachbarn, den Nachbarn");
  CHECK(cases(phrase(Determiner::the, "", "car", true)) == "die Autos, die Autos, den Autos");
  CHECK(cases(phrase(Determiner::the, "", "doctor", true)) == "die Ärzte, die Ärzte, den Ärzten");
}

TEST_CASE("grammar phrases: English noun phrases") {
  CHECK(english(phrase(Determiner::a, "old", "house")) == "an old house");
  CHECK(english(phrase(Determiner::a, "", "house")) == "a house");
  CHECK(english(phrase(Determiner::a, "expensive", "egg")) == "an expensive egg");
  CHECK(english(phrase(Determiner::a, "", "woman", true)) == "women");
  CHECK(english(phrase(Determiner::these, "", "man")) == "this man");
  CHECK(english(phrase(Determiner::these, "red", "door", true)) == "these red doors");
  CHECK(english(phrase(Determiner::a, "", "child", true, 32)) == "thirty-two children");
}

TEST_CASE("grammar phrases: number words reverse tens and ones") {
  CHECK(number_words(2).german == "zwei");
  CHECK(number_words(12).english == "twelve");
  CHECK(number_words(12).german == "zwölf");
  CHECK(number_words(20).german == "zwanzig");
  CHECK(number_words(21).english == "twenty-one");
  CHECK(number_words(21).german == "einundzwanzig");
  CHECK(number_words(37).english == "thirty-seven");
  CHECK(number_words(37).german == "siebenunddreißig");
}

TEST_CASE("grammar phrases: pronouns decline and agree in gender") {
  CHECK(cases({.pronoun = &he}) == "er, ihn, ihm");
  CHECK(cases({.pronoun = &she}) == "sie, sie, ihr");
  CHECK(cases({.pronoun = &we}) == "wir, uns, uns");
  CHECK(cases({.pronoun = &they}) == "sie, sie, ihnen");
  CHECK(pronoun_for(phrase(Determiner::the, "", "teacher")) == &he);
  CHECK(pronoun_for(phrase(Determiner::the, "", "mother")) == &she);
  CHECK(pronoun_for(phrase(Determiner::the, "", "child")) == nullptr);
  CHECK(pronoun_for(phrase(Determiner::the, "", "lamp", true)) == &they);
  CHECK(cases({.pronoun = pronoun_for(phrase(Determiner::the, "", "table"))}) == "er, ihn, ihm");
  CHECK(cases({.pronoun = pronoun_for(phrase(Determiner::the, "", "lamp"))}) == "sie, sie, ihr");
  CHECK(cases({.pronoun = pronoun_for(phrase(Determiner::the, "", "car"))}) == "es, es, ihm");
}

TEST_CASE("grammar phrases: in and an contract with dem") {
  const Place& station = *[] {
    for (const Place& place : places)
      if (std::string_view(place.noun.english) == "station") return &place;
    return &places[0];
  }();
  NounPhrase there{.noun = &station.noun};
  CHECK(prepositional("at", "an", there, Case::dative).german == "am Bahnhof");
  there.adjective = find(adjectives, "old");
  CHECK(prepositional("at", "an", there, Case::dative).german == "am alten Bahnhof");
  there.determiner = Determiner::a;
  const Phrase phrase = prepositional("at", "an", there, Case::dative);
  CHECK(phrase.english == "at an old station");
  CHECK(phrase.german == "an einem alten Bahnhof");
}
