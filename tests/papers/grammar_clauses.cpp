#include "papers/grammar_clauses.hpp"

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

NounPhrase one(Determiner determiner, const char* noun) { return {.noun = find(nouns, noun), .determiner = determiner}; }
NounPhrase the(const char* noun) { return one(Determiner::the, noun); }
NounPhrase a(const char* noun) { return one(Determiner::a, noun); }

/// Both languages on one line.
std::string both(const Phrase& phrase) { return phrase.english + " | " + phrase.german; }

const Phrase because{"because", "weil"}, today{"today", "heute"};

}  // namespace

TEST_CASE("grammar clauses: the verb is second in a statement") {
  Event event{.subject = the("man"), .verb = find(verbs, "buy"), .object = a("table"), .time = today};
  CHECK(both(statement(clause(event))) == "the man buys a table today | der Mann kauft heute einen Tisch");
  event.time = {};
  CHECK(both(statement_after(today, clause(event))) == "today the man buys a table | heute kauft der Mann einen Tisch");
  event.subject.several = true;
  CHECK(both(statement(clause(event))) == "the men buy a table | die Männer kaufen einen Tisch");
  CHECK(both(question({}, clause(event))) == "do the men buy a table | kaufen die Männer einen Tisch");
  CHECK(both(question({"why", "warum"}, clause(event))) ==
        "why do the men buy a table | warum kaufen die Männer einen Tisch");
}

TEST_CASE("grammar clauses: the verb is last in a subordinate clause and separable verbs stay joined") {
  Event event{.subject = the("woman"), .verb = find(verbs, "call"), .object = the("student")};
  CHECK(both(statement(clause(event))) == "the woman calls the student | die Frau ruft den Studenten an");
  CHECK(both(subordinate(because, clause(event))) ==
        "because the woman calls the student | weil die Frau den Studenten anruft");
  event.tense = Tense::past;
  CHECK(both(statement(clause(event))) == "the woman called the student | die Frau hat den Studenten angerufen");
  CHECK(subordinate(because, clause(event)).german == "weil die Frau den Studenten angerufen hat");
  event.tense = Tense::can;
  CHECK(both(statement(clause(event))) == "the woman can call the student | die Frau kann den Studenten anrufen");
  CHECK(subordinate(because, clause(event)).german == "weil die Frau den Studenten anrufen kann");
}

TEST_CASE("grammar clauses: tenses and modal verbs in statements and questions") {
  Event event{.subject = {.pronoun = &they}, .verb = find(verbs, "arrive")};
  const auto forms = [&](Tense tense) {
    event.tense = tense;
    return both(statement(clause(event))) + " | " + both(question({}, clause(event)));
  };
  CHECK(forms(Tense::present) == "they arrive | sie kommen an | do they arrive | kommen sie an");
  CHECK(forms(Tense::past) == "they arrived | sie sind angekommen | did they arrive | sind sie angekommen");
  CHECK(forms(Tense::future) == "they will arrive | sie werden ankommen | will they arrive | werden sie ankommen");
  CHECK(forms(Tense::can) == "they can arrive | sie können ankommen | can they arrive | können sie ankommen");
  CHECK(forms(Tense::must) == "they must arrive | sie müssen ankommen | must they arrive | müssen sie ankommen");
  CHECK(forms(Tense::want) == "they want to arrive | sie wollen ankommen | do they want to arrive | wollen sie ankommen");
  CHECK(forms(Tense::should) == "they should arrive | sie sollten ankommen | should they arrive | sollten sie ankommen");
  event.subject = {.pronoun = &she};
  CHECK(forms(Tense::past) == "she arrived | sie ist angekommen | did she arrive | ist sie angekommen");
  CHECK(forms(Tense::want) == "she wants to arrive | sie will ankommen | does she want to arrive | will sie ankommen");
}

TEST_CASE("grammar clauses: negation uses kein for indefinite objects and nicht elsewhere") {
  Event event{.subject = {.pronoun = &he}, .verb = find(verbs, "find"), .negated = true, .object = a("key")};
  CHECK(both(statement(clause(event))) == "he does not find a key | er findet keinen Schlüssel");
  CHECK(both(question({}, clause(event))) == "does he not find a key | findet er keinen Schlüssel");
  event.object = the("key");
  CHECK(both(statement(clause(event))) == "he does not find the key | er findet den Schlüssel nicht");
  event.tense = Tense::can;
  CHECK(both(statement(clause(event))) == "he cannot find the key | er kann den Schlüssel nicht finden");
  CHECK(both(question({}, clause(event))) == "can he not find the key | kann er den Schlüssel nicht finden");
  event.tense = Tense::past;
  CHECK(both(subordinate(because, clause(event))) ==
        "because he did not find the key | weil er den Schlüssel nicht gefunden hat");
}

TEST_CASE("grammar clauses: dative objects and double objects") {
  CHECK(both(statement(clause(Event{.subject = the("girl"), .verb = find(verbs, "help"), .recipient = the("boy")}))) ==
        "the girl helps the boy | das Mädchen hilft dem Jungen");
  Event event{
      .subject = the("doctor"), .verb = find(verbs, "give"), .recipient = a("woman"), .object = one(Determiner::my, "key")};
  CHECK(both(statement(clause(event))) == "the doctor gives a woman my key | der Arzt gibt einer Frau meinen Schlüssel");
  event.recipient = NounPhrase{.pronoun = &they};
  event.time = today;
  CHECK(both(statement(clause(event))) ==
        "the doctor gives them my key today | der Arzt gibt ihnen heute meinen Schlüssel");
}

TEST_CASE("grammar clauses: time and company and place precede the objects") {
  const Event event{.subject = {.pronoun = &we},
                    .verb = find(verbs, "cook"),
                    .tense = Tense::past,
                    .object = a("soup"),
                    .adjunct = prepositional("for", "für", {.pronoun = &he}, Case::accusative),
                    .time = {"yesterday", "gestern"}};
  CHECK(both(statement(clause(event))) ==
        "we cooked a soup for him yesterday | wir haben gestern für ihn eine Suppe gekocht");
  const Event often{.subject = the("cat"), .verb = find(verbs, "sleep"), .adverb = {"often", "oft"}};
  CHECK(both(statement(clause(often))) == "the cat often sleeps | die Katze schläft oft");
  CHECK(both(question({}, clause(often))) == "does the cat often sleep | schläft die Katze oft");
}

TEST_CASE("grammar clauses: copula and prices and existence") {
  const Clause old = being(the("house"), true, true, {"old", "alt"});
  CHECK(both(statement(old)) == "the house was not old | das Haus war nicht alt");
  CHECK(both(question({}, old)) == "was the house not old | war das Haus nicht alt");
  CHECK(both(subordinate(because, old)) == "because the house was not old | weil das Haus nicht alt war");
  CHECK(both(statement(costing(the("lamp"), number_words(21)))) ==
        "the lamp costs twenty-one euros | die Lampe kostet einundzwanzig Euro");
  const Clause dog = existing(a("dog"), {"in the park", "im Park"});
  CHECK(both(statement(dog)) == "there is a dog in the park | es gibt einen Hund im Park");
  CHECK(both(question({}, dog)) == "is there a dog in the park | gibt es einen Hund im Park");
  CHECK(subordinate(because, dog).german == "weil es einen Hund im Park gibt");
}
