#include "papers/grammar_corpus.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attn/text/utf8.hpp"

using namespace attn;
using namespace papers;
using grammar::GrammarCorpus;
using grammar::Phrase;

namespace {

Index count_words(const std::string& text) { return 1 + std::ranges::count(text, ' '); }

const std::vector<Phrase>& many_pairs() {
  static const std::vector<Phrase> pairs = [] {
    const ParallelText text = generate_pairs(50'000, 1);
    std::vector<Phrase> all;
    for (std::size_t i = 0; i < text.source.size(); ++i) all.push_back({text.source[i], text.target[i]});
    return all;
  }();
  return pairs;
}

/// How many of the pairs hold both strings.
Index count_pairs(const std::string& english, const std::string& german) {
  return std::ranges::count_if(many_pairs(), [&](const Phrase& pair) {
    return pair.english.find(english) != std::string::npos && pair.german.find(german) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("grammar corpus: a seed gives the same sentences everywhere") {
  const std::vector<Phrase> expected = {
      {"The letter that her neighbour must close was expensive.", "Der Brief, den ihr Nachbar zumachen muss, war teuer."},
      {"He wants to give the students the new lamp although the girls buy the small table for the student.",
       "Er will den Studenten die neue Lampe geben, obwohl die Mädchen für den Studenten den kleinen Tisch kaufen."},
      {"They follow his dog although they are old.", "Sie folgen seinem Hund, obwohl sie alt sind."},
      {"The boy will arrive although he is very sick.", "Der Junge wird ankommen, obwohl er sehr krank ist."},
      {"The key is small because it is cheap.", "Der Schlüssel ist klein, weil er billig ist."},
      {"Who does the clever friend always ask?", "Wen fragt der kluge Freund immer?"},
      {"She looked for thirty-five beautiful students because she is happy.",
       "Sie hat fünfunddreißig schöne Studenten gesucht, weil sie glücklich ist."},
      {"The boy must help a friend in the forest today.", "Der Junge muss heute im Wald einem Freund helfen."},
  };
  GrammarCorpus corpus(1);
  for (const Phrase& pair : expected) {
    const Phrase made = corpus.next();
    CHECK(made.english == pair.english);
    CHECK(made.german == pair.german);
  }
  CHECK(GrammarCorpus(2).next() != GrammarCorpus(1).next());
}

TEST_CASE("grammar corpus: an English sentence always has the same translation") {
  std::unordered_map<std::string, std::string> translations;
  Index repeated = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    GrammarCorpus corpus(seed);
    for (int i = 0; i < 50'000; ++i) {
      const Phrase pair = corpus.next();
      const auto [known, fresh] = translations.emplace(pair.english, pair.german);
      repeated += !fresh;
      if (known->second != pair.german) {
        CAPTURE(pair.english);
        CHECK(known->second == pair.german);
      }
    }
  }
  CHECK(repeated > 1'000);  // else nothing was compared
  CHECK(translations.size() > 100'000);
}

TEST_CASE("grammar corpus: pairs are distinct and valid UTF-8 and look like sentences") {
  REQUIRE(many_pairs().size() == 50'000);
  std::unordered_set<std::string> english;
  Index wrong = 0;
  for (const auto& [source, target] : many_pairs()) {
    english.insert(source);
    for (const std::string* text : {&source, &target}) {
      const bool question = source.back() == '?';
      const bool tidy = utf8::first_invalid(*text) == std::string::npos && text->back() == (question ? '?' : '.') &&
                        text->front() >= 'A' && text->front() <= 'Z' && text->find("  ") == std::string::npos &&
                        text->find(" ,") == std::string::npos && text->find(" .") == std::string::npos &&
                        text->find(" ?") == std::string::npos;
      if (!tidy && ++wrong < 5) MESSAGE(*text);
    }
  }
  CHECK(wrong == 0);
  CHECK(english.size() == 50'000);
}

TEST_CASE("grammar corpus: lengths and vocabulary suit a small model") {
  Index english_words = 0, german_words = 0, shortest = 99, longest = 0;
  std::set<std::string> vocabulary[2];
  for (const auto& [english, german] : many_pairs()) {
    english_words += count_words(english);
    german_words += count_words(german);
    shortest = std::min({shortest, count_words(english), count_words(german)});
    longest = std::max({longest, count_words(english), count_words(german)});
    for (const auto& [text, words] : {std::pair{&english, &vocabulary[0]}, std::pair{&german, &vocabulary[1]}}) {
      std::istringstream in(*text);
      for (std::string word; in >> word;) {
        while (word.back() == ',' || word.back() == '.' || word.back() == '?') word.pop_back();
        if (word[0] >= '0' && word[0] <= '9') continue;
        if (word[0] >= 'A' && word[0] <= 'Z') word[0] = static_cast<char>(word[0] - 'A' + 'a');
        words->insert(word);
      }
    }
  }
  const double pairs = static_cast<double>(many_pairs().size());
  CHECK(static_cast<double>(english_words) / pairs == doctest::Approx(10).epsilon(0.1));
  CHECK(static_cast<double>(german_words) / pairs == doctest::Approx(10).epsilon(0.1));
  CHECK(shortest == 4);
  CHECK(longest <= 25);
  CHECK(longest >= 22);
  for (const auto& words : vocabulary) {
    CHECK(words.size() >= 250);
    CHECK(words.size() <= 400);
  }
}

TEST_CASE("grammar corpus: every construction occurs") {
  CHECK(count_pairs("Yesterday ", "Gestern ha") > 50);      // verb second after a time
  CHECK(count_pairs("In the garden ", "Im Garten ") > 10);  // after a place
  CHECK(count_pairs("Because ", "Weil ") > 300);            // after a clause
  CHECK(count_pairs(" although ", ", obwohl ") > 300);      // verb last
  CHECK(count_pairs(" that ", ", dass ") > 300);            //
  CHECK(count_pairs(" if ", ", wenn ") > 300);              //
  CHECK(count_pairs(" who ", ", de") > 100);                // relative clauses
  CHECK(count_pairs(" that ", ", den ") > 50);              //
  CHECK(count_pairs(" calls ", " an") > 50);                // separable verbs
  CHECK(count_pairs(" wants to ", " will ") > 300);         // modal verbs
  CHECK(count_pairs(" arrived", " angekommen") > 50);       // perfect with sein
  CHECK(count_pairs(" not ", " kein") > 300);               // negation
  CHECK(count_pairs(" not ", " nicht") > 300);              //
  CHECK(count_pairs("Which ", "Welchen ") > 20);            // questions about objects
  CHECK(count_pairs("Who ", "Wem ") > 20);                  //
  CHECK(count_pairs("How many ", "Wie viele ") > 20);       //
  CHECK(count_pairs("twenty-one", "einundzwanzig") > 50);   // numbers in words
  CHECK(count_pairs(" 21 euros", " 21 Euro") > 3);          // and in digits
  CHECK(count_pairs("as old as", "so alt wie") > 5);        // comparison
  CHECK(count_pairs("There are ", "Es gibt ") > 20);        //
  CHECK(count_pairs(" it is ", " er ") > 50);               // the gender of a noun far away
  CHECK(count_pairs(" it is ", " sie ") > 50);              //
  CHECK(count_pairs(" it is ", " es ") > 50);               //
}

TEST_CASE("grammar corpus: held-out sentences never occur in training and do not depend on its size") {
  const CorpusSplit split = generate_split(5'000, 300, 200, 7);
  REQUIRE(split.train.source.size() == 5'000);
  REQUIRE(split.validation.source.size() == 300);
  REQUIRE(split.test.source.size() == 200);
  std::unordered_set<std::string> seen;
  for (const auto* part : {&split.train, &split.validation, &split.test})
    seen.insert(part->source.begin(), part->source.end());
  CHECK(seen.size() == 5'500);

  const CorpusSplit smaller = generate_split(10, 300, 200, 7);
  CHECK(smaller.validation.source == split.validation.source);
  CHECK(smaller.validation.target == split.validation.target);
  CHECK(smaller.test.source == split.test.source);
  CHECK(smaller.test.target == split.test.target);
}

TEST_CASE("grammar corpus: rejects negative counts") {
  CHECK(generate_pairs(0, 1).source.empty());
  CHECK_THROWS_AS(generate_pairs(-1, 1), Error);
  CHECK_THROWS_AS(generate_split(5, -1, 5, 1), Error);
}
