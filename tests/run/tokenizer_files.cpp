#include "attn/run/tokenizer_files.hpp"

#include <doctest/doctest.h>

#include "support/errors.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

WordVocabulary some_words() { return WordVocabulary({"<unk>", "<pad>", "<sos>", "<eos>", "a", "dog", "runs"}); }

}  // namespace

TEST_CASE("any tokenizer: forwards to the tokenizer it holds") {
  const WordVocabulary words = some_words();
  const AnyTokenizer any = words;
  CHECK(any.encode("a dog sleeps") == words.encode("a dog sleeps"));
  CHECK(any.decode(std::vector<Token>{4, 5, 0}) == "a dog <unk>");
  CHECK(any.begin() == 2);
  CHECK(any.end() == 3);
  CHECK(any.pad() == 1);
  CHECK(any.unknown() == 0);
  CHECK(any.size() == 7);
  CHECK(any.padded_size() == 8);
  CHECK(any.hash() == words.hash());
  CHECK(any.name(5) == "dog");
  CHECK(any.name(7) == "?");  // padding of the model's tables
  CHECK(any.name(-1) == "?");
  CHECK(any.get<WordVocabulary>() != nullptr);
  CHECK(any.get<ByteBpe>() == nullptr);
}

TEST_CASE("tokenizer files: a saved tokenizer loads with the same hash") {
  const TemporaryFolder folder;
  const AnyTokenizer words = some_words();
  const auto about = save_tokenizer(words, folder.path(), "source");
  CHECK(about.at("kind") == "words");
  CHECK(about.at("files") == nlohmann::json{"source.vocab"});
  CHECK(load_tokenizer(about, folder.path()).hash() == words.hash());
}

TEST_CASE("tokenizer files: rejects changed tokenizers and unknown kinds and files outside the folder") {
  const TemporaryFolder folder;
  auto about = save_tokenizer(some_words(), folder.path(), "source");
  save_word_vocabulary(WordVocabulary({"<unk>", "<pad>", "<sos>", "<eos>", "a", "cat", "runs"}), folder / "source.vocab");
  const auto refused = [&](const char* words) {
    return contains(error_of([&] { load_tokenizer(about, folder.path()); }), words);
  };
  CHECK(refused("is not the tokenizer of the model"));
  about["files"] = {"../source.vocab"};
  CHECK(refused("which is not in the folder"));
  about["files"] = {"source.vocab"};
  about["kind"] = "byte-bpe";
  CHECK(refused("model.json names 1 tokenizer file, too few for the kind byte-bpe"));
  about["kind"] = "morse";
  CHECK(refused("of the kind 'morse'"));
}

TEST_CASE("tokenizer files: saving rejects a kind whose listed files differ from those it writes") {
  const TemporaryFolder folder;
  struct Own : WordVocabulary {};
  std::vector<std::string> files;
  TokenizerKind own;
  own.name = "own";
  own.holds = [](const AnyTokenizer& t) { return t.get<Own>() != nullptr; };
  own.save = [&](const AnyTokenizer& t, const std::filesystem::path& stem) {
    save_word_vocabulary(*t.get<Own>(), stem.string() + ".vocab");
    return files;
  };
  own.load = [](const std::filesystem::path& from, const std::vector<std::string>& names) {
    return AnyTokenizer(Own{load_word_vocabulary(from / names.at(0))});
  };
  tokenizer_kinds().push_back(own);
  const AnyTokenizer words = Own{some_words()};
  const auto refused = [&](std::vector<std::string> names, const char* sentence) {
    files = std::move(names);
    return contains(error_of([&] { save_tokenizer(words, folder.path(), "source"); }), sentence);
  };
  CHECK(refused({}, "tokenizer kind 'own': `save` returned no file names"));
  CHECK(refused({"target.vocab"}, "tokenizer kind 'own': `save` returned 'target.vocab', which is not a file in"));
  CHECK(refused({(folder / "source.vocab").string()}, "without folders"));
  files = {"source.vocab"};
  CHECK(load_tokenizer(save_tokenizer(words, folder.path(), "source"), folder.path()).hash() == words.hash());
  tokenizer_kinds().pop_back();
}

TEST_CASE("tokenizer files: plain words load with their language") {
  const TemporaryFolder folder;
  for (const auto& [kind, language] : {std::pair("plain-en", Language::english), {"plain-de", Language::german}}) {
    const AnyTokenizer plain =
        PlainTokenizer(WordVocabulary({"<unk>", "<pad>", "<sos>", "<eos>", "do", "not", "dont"}), language);
    const auto about = save_tokenizer(plain, folder.path(), "source");
    CHECK(about.at("kind") == kind);
    const AnyTokenizer loaded = load_tokenizer(about, folder.path());
    CHECK(loaded.encode("DON'T!") == plain.encode("DON'T!"));
    REQUIRE(loaded.get<PlainTokenizer>() != nullptr);
    CHECK(loaded.get<PlainTokenizer>()->language() == language);
  }
}
