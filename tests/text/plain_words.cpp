#include "attn/text/plain_words.hpp"

#include "support/files.hpp"

using namespace attn;

namespace {

std::string english(std::string_view line) { return plain_words(line, Language::english); }
std::string german(std::string_view line) { return plain_words(line, Language::german); }

}  // namespace

TEST_CASE("plain words: lowercases and removes punctuation") {
  CHECK(english("Yes, Mr President; I (and you) agree!") == "yes mr president i and you agree");
  CHECK(german("Das Über-Maß, Frau Präsidentin: ja?") == "das übermaß frau präsidentin ja");
  CHECK(english("a long-term plan - or 'not' -- e.g. in the U.S.A.") == "a longterm plan or not eg in the usa");
  CHECK(english("wait...what and/or *this*") == "wait what andor this");
  CHECK(english("one..two a.b, c_d") == "onetwo ab cd");
  CHECK(english("+ = | €") == "+ = | €");
  CHECK(english(" \t no\u00A0break \u2003 ") == "no break");
  CHECK(english("").empty());
  CHECK(english(" - ... !? ").empty());
}

TEST_CASE("plain words: handles numbers") {
  CHECK(english("In 2008/2009, 1,000 of 18.4 at 10:30") == "in <num> <num> of <num> at <num>");
  CHECK(english("50% $5 1st B52 4,x 3²") == "<num> <num> 1st b52 <num> x <num>");
  CHECK(german("am 21. oder 22.5.") == "am <num> oder <num>");
  CHECK(german("77. 000 <num>") == "<num> <num> num");
}

TEST_CASE("plain words: expands English contractions and keeps German apostrophes") {
  CHECK(english("I don't, she's") == "i do not she has");
  CHECK(german("I don't, she's") == "i do nt she s");
  CHECK(english("Don't say it isn't. It's Parliament's.") == "do nt say it is not it s parliament s");
  CHECK(english("THEY'RE DON'T") == "they re do nt");
  CHECK(english("the states' l'Europe d'Etat O'Neill") == "the states leurope detat oneill");
  CHECK(english("rock'n roll, l'a b") == "rock n roll l a b");
  CHECK(english("John's) John's, John's.") == "john s john s john s");
  CHECK(english("John's.x John's'") == "johnsx john s");
}

TEST_CASE("plain words: splits words that the Treebank counts as two") {
  CHECK(english("We cannot; Cannot can't cannots") == "we can not can not can not cannots");
  CHECK(english("gonna gotta wanna gimme lemme d'ye") == "gon na got ta wan na gim me lem me d ye");
  CHECK(english("'Tis and 'twas, x'tis") == "t is and t was xtis");
}

TEST_CASE("plain words: keeps opening quotation marks and typographic closing ones") {
  CHECK(english("\"Yes\" he said (\"no\") and ''so''") == "`` yes he said `` no and `` so");
  CHECK(english("5\" \"\" ``x''") == "<num> `` `` x");
  CHECK(german("„Ja“, «nein» ‘a’ “b”") == "„ ja “ « nein » ‘ a ’ “ b ”");
  CHECK(english("don’t") == "don ’ t");
  CHECK(english("``` x") == "`` ` x");
}

TEST_CASE("plain words: a quotation mark after a sentence opens as in Punkt") {
  CHECK(german("\"Wie?\", fragte er") == "`` wie `` fragte er");
  CHECK(german("\"Wie?\" fragte er. \"So.\"") == "`` wie fragte er `` so");
  CHECK(german("\"Wie...\", sagte er") == "`` wie sagte er");
  CHECK(german("\"Wie\", sagte er") == "`` wie sagte er");
}

TEST_CASE("plain words: rejects invalid UTF-8") {
  CHECK(contains(error_of([] { english("sch\xF6n"); }), "byte 3 of the text"));
}
