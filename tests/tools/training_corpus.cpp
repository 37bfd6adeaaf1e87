#include "common/training_corpus.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "support/files.hpp"

using namespace attn;

namespace {

const ParallelText pairs{{"a cat", "a dog", "the cat"}, {"eine Katze", "ein Hund", "die Katze"}};

TrainingText texts() { return {pairs, {{"a cat"}, {"eine Katze"}}, {{"the dog"}, {"der Hund"}}}; }

}  // namespace

TEST_CASE("training corpus: the tokenizer can be learned or loaded or given") {
  Communicator alone;
  std::ostringstream said;
  TrainingText text = texts();
  const TrainingCorpus learnt = encode_training_text({.vocabulary = 262}, text, {}, alone, said);
  CHECK(learnt.tokenizers.source.hash() == AnyTokenizer(learn_byte_bpe(262, pairs.source, pairs.target)).hash());
  CHECK(learnt.training().size() == 3);
  CHECK(learnt.validation().size() == 1);
  CHECK(text.training.source.empty());
  CHECK(contains(said.str(), "corpus: 3 training pairs of "));
  CHECK(contains(said.str(), " tokens, 1 for validation, 1 to translate; a vocabulary of 262\n"));
  CHECK_FALSE(contains(said.str(), "cut"));

  text = texts();
  const TrainingCorpus apart =
      encode_training_text({.vocabulary = 261, .separate_vocabularies = true}, text, {}, alone, said);
  CHECK((apart.separate_vocabularies() && !learnt.separate_vocabularies()));
  CHECK(apart.tokenizers.source.hash() == AnyTokenizer(learn_byte_bpe(261, pairs.source)).hash());
  CHECK(apart.tokenizers.target.hash() == AnyTokenizer(learn_byte_bpe(261, pairs.target)).hash());
  std::vector<Token> space;
  CHECK(apart.tokenizers.target.decode(apart.training().target_tokens(1, space)) == "ein Hund");
  CHECK(contains(said.str(), "; vocabularies of 261 and 261\n"));

  const ByteBpe other = learn_byte_bpe(263, pairs.source);
  const TemporaryFolder folder;
  save_byte_bpe(other, folder / "vocab.json", folder / "merges.txt");
  const TextOptions named{.vocab = folder / "vocab.json", .merges = folder / "merges.txt"};
  text = texts();
  CHECK(encode_training_text(named, text, {}, alone, said).tokenizers.source.hash() == AnyTokenizer(other).hash());
  text = texts();
  CHECK(encode_training_text(named, text, learnt.tokenizers, alone, said).tokenizers.source.hash() ==
        learnt.tokenizers.source.hash());
}

TEST_CASE("training corpus: truncated sentences keep their end token and are reported") {
  Communicator alone;
  std::ostringstream said;
  TrainingText text = texts();
  const AnyTokenizer tokenizer = learn_byte_bpe(260, pairs.source);
  const TrainingCorpus corpus =
      encode_training_text({.truncate = 6}, text, CorpusTokenizers{tokenizer, tokenizer}, alone, said, "three pairs");
  std::vector<Token> space;
  CHECK(corpus.training().target_length(0) == 5);
  CHECK(tokenizer.decode(corpus.training().target_tokens(0, space)) == "eine ");
  CHECK(said.str().starts_with("three pairs: 3 training pairs of 30 tokens"));
  CHECK(contains(said.str(), "\ntruncated 6 training sentences to 5 tokens\n"));
}

TEST_CASE("training corpus: content hashes differ by text and by validation set of shards") {
  Communicator alone;
  std::ostringstream said;
  const AnyTokenizer tokenizer = learn_byte_bpe(262, pairs.source);
  const TemporaryFolder folder;
  write_file(folder / "a.tsv", "a cat\teine Katze\na dog\tein Hund\nthe cat\tdie Katze\n");
  begin_corpus(folder.path(), {tokenizer, tokenizer}, "these words");
  PairStream stream({.files = {{PairFormat::tsv, folder / "a.tsv"}}});
  complete_corpus(folder.path(), make_shards(stream, tokenizer, tokenizer, folder.path(), {.pairs = 2}));
  const TextOptions options{.shards = folder.path()};
  TrainingText text = read_training_text(options, said);
  const TrainingCorpus sharded = encode_training_text(options, text, {}, alone, said);
  CHECK(sharded.tokenizers.source.hash() == tokenizer.hash());
  CHECK(sharded.training().size() == 2);
  REQUIRE(sharded.validation().size() == 1);
  std::vector<Token> space;
  CHECK(tokenizer.decode(sharded.validation().target_tokens(0, space)) == "die Katze");
  TrainingCorpus other = sharded;
  CHECK(other.validation_hash() == sharded.validation_hash());
  other.held_out = 2;
  CHECK(other.training_hash() == sharded.training_hash());
  CHECK(other.validation_hash() != sharded.validation_hash());
  const AnyTokenizer another = learn_byte_bpe(263, pairs.source);
  CHECK(error_of([&] { encode_training_text(options, text, CorpusTokenizers{another, another}, alone, said); }) != "");

  text = texts();
  const TrainingCorpus memory = encode_training_text({}, text, CorpusTokenizers{tokenizer, tokenizer}, alone, said);
  text = texts();
  std::swap(text.training.target[0], text.training.target[1]);
  text.validation.source[0] = "a dog";
  const TrainingCorpus changed = encode_training_text({}, text, CorpusTokenizers{tokenizer, tokenizer}, alone, said);
  CHECK(memory.training_hash() != changed.training_hash());
  CHECK(memory.validation_hash() != changed.validation_hash());
}
