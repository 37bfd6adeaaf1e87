#include "attn/run/corpus_folder.hpp"

#include <doctest/doctest.h>

#include "attn/text/bpe_training.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

/// A corpus of three pairs in a folder, begun or complete.
struct Made {
  TemporaryFolder folder;
  ParallelText lines{{"a cat", "a dog", "the cat"}, {"eine Katze", "ein Hund", "die Katze"}};
  AnyTokenizer source = learn_byte_bpe(262, lines.source), target = source;
  MadeShards shards;

  explicit Made(bool separate = false) {
    if (separate) target = learn_byte_bpe(263, lines.target);
    write_file(folder / "a.tsv", "a cat\teine Katze\na dog\tein Hund\nthe cat\tdie Katze\n");
    begin_corpus(folder.path(), {source, target}, "these words");
    PairStream stream({.files = {{PairFormat::tsv, folder / "a.tsv"}}});
    shards = make_shards(stream, source, target, folder.path(), {.pairs = 2});
  }
  void complete() { complete_corpus(folder.path(), shards, {{"read", 3}}); }
  std::string refusal() const {
    return error_of([&] { open_corpus(folder.path()); });
  }
  void replace(const std::string& from, const std::string& to) const {
    std::string config = read_file(folder / "corpus.json");
    REQUIRE(contains(config, from));
    write_file(folder / "corpus.json", config.replace(config.find(from), from.size(), to));
  }
};

}  // namespace

TEST_CASE("corpus folder: opens with its tokenizers and pairs") {
  for (const bool separate : {false, true}) {
    Made made(separate);
    made.complete();
    const OpenCorpus corpus = open_corpus(made.folder.path());
    CHECK(corpus.tokenizers.source.hash() == made.source.hash());
    CHECK(corpus.tokenizers.target.hash() == made.target.hash());
    CHECK(std::filesystem::exists(made.folder / (separate ? "target.vocab.json" : "tokenizer.vocab.json")));
    REQUIRE(corpus.pairs.size() == 3);
    std::vector<Token> space;
    CHECK(corpus.tokenizers.target.decode(corpus.pairs.target_tokens(2, space)) == "die Katze");
    CHECK(open_corpus(made.folder.path(), 2).pairs.target_length(2) == 2);
    const auto config = nlohmann::json::parse(read_file(made.folder / "corpus.json"));
    CHECK(config["text"]["read"] == 3);
    CHECK(config["shards"] == nlohmann::json{"00000.shard", "00001.shard"});
    CHECK(config["lengths"]["source"]["longest"] == made.shards.source.longest());
  }
}

TEST_CASE("corpus folder: rejects incomplete and modified folders") {
  const TemporaryFolder empty;
  CHECK(contains(error_of([&] { open_corpus(empty.path()); }), "it has no corpus.json. Create them with tokenize."));
  Made made;
  CHECK(contains(made.refusal(), "is incomplete: the command that created it was stopped. Repeat that command"));
  made.complete();
  REQUIRE(made.refusal().empty());

  SUBCASE("a newer format") {
    made.replace("\"format\": 1", "\"format\": 7");
    CHECK(contains(made.refusal(), "corpus.json has format 7, but this program reads format 1"));
  }
  SUBCASE("not JSON") {
    write_file(made.folder / "corpus.json", "{");
    CHECK(contains(made.refusal(), "corpus.json is damaged, or another kind of file"));
  }
  SUBCASE("a part missing") {
    made.replace("\"pairs\"", "\"peers\"");
    CHECK(contains(made.refusal(), "corpus.json is damaged ("));
  }
  SUBCASE("a shard missing") {
    std::filesystem::remove(made.folder / "00001.shard");
    CHECK(contains(made.refusal(), "00001.shard: No such file or directory"));
  }
  SUBCASE("a shard with a changed token") {
    std::string bytes = read_file(made.folder / "00001.shard");
    bytes[bytes.size() - 2] =
        static_cast<char>(bytes[bytes.size() - 2] ^ 1);  // of the last token's two bytes the lower one
    write_file(made.folder / "00001.shard", bytes);
    CHECK(contains(made.refusal(), "00001.shard is damaged: its checksum does not match. Repeat the command"));
  }
  SUBCASE("a missing shard entry") {
    made.replace(",\n  \"00001.shard\"", "");
    CHECK(contains(made.refusal(), "has shards of 2 pairs, but corpus.json says 3"));
  }
  SUBCASE("another tokenizer") {
    const AnyTokenizer other = learn_byte_bpe(261, made.lines.target);
    begin_corpus(made.folder.path(), {other, other}, "");
    made.complete();
    CHECK(contains(made.refusal(), "00000.shard was created with another tokenizer"));
  }
  SUBCASE("no shards") {
    complete_corpus(made.folder.path(), {});
    CHECK(contains(made.refusal(), "has no pairs"));
  }
}

TEST_CASE("corpus folder: rejects a folder with a trained model to protect its tokenizer") {
  const Made made;
  const TemporaryFolder run;
  for (const char* name : {"model.json", "tokenizer.vocab.json"}) write_file(run / name, "the model's");
  CHECK(contains(error_of([&] {
                   begin_corpus(run.path(), {made.source, made.target}, "");
                 }),
                 "contains a trained model (model.json); shards would overwrite its tokenizer. Choose another folder"));
  CHECK(read_file(run / "tokenizer.vocab.json") == "the model's");
  CHECK_FALSE(std::filesystem::exists(run / "corpus.json"));
}

TEST_CASE("corpus folder: learned tokenizers are reused if they were learned from the same text") {
  const Made made;
  const auto found = tokenizers_of_corpus(made.folder.path(), "these words");
  REQUIRE(found.has_value());
  CHECK(found->source.hash() == made.source.hash());
  CHECK_FALSE(tokenizers_of_corpus(made.folder.path(), "other words").has_value());
  CHECK_FALSE(tokenizers_of_corpus(made.folder / "none", "these words").has_value());
  std::filesystem::remove(made.folder / "tokenizer.merges.txt");
  CHECK_FALSE(tokenizers_of_corpus(made.folder.path(), "these words").has_value());
}

TEST_CASE("corpus folder: reports whether it has a corpus and its sources") {
  const TemporaryFolder empty;
  CHECK_FALSE(has_corpus(empty.path()));
  CHECK_FALSE(has_corpus(empty / "none"));
  CHECK(corpus_made_of(empty.path()).empty());
  write_file(empty / "a.en", "text\n");
  CHECK_FALSE(has_corpus(empty.path()));
  write_file(empty / "00000.shard", "");
  CHECK(has_corpus(empty.path()));
  Made made;
  CHECK(has_corpus(made.folder.path()));
  CHECK(corpus_made_of(made.folder.path()) == "these words");
  write_file(made.folder / "corpus.json", "{");
  CHECK(has_corpus(made.folder.path()));
  CHECK(corpus_made_of(made.folder.path()).empty());
  for (const auto& shard : made.shards.files) std::filesystem::remove(shard);
  CHECK_FALSE(has_corpus(made.folder.path()));  // what is left is made in a moment
}
