#include "common/training_text.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "attn/text/bpe_training.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

/// Writes a text and its translation; returns the options that read them.
TextOptions files_of(const TemporaryFolder& folder, const std::string& source, const std::string& target) {
  write_file(folder / "train.en", source);
  write_file(folder / "train.de", target);
  return {.train_source = {folder / "train.en"}, .train_target = {folder / "train.de"}};
}

std::string counted(const char* word, int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += word + std::to_string(i) + "\n";
  return text;
}

std::string refusal(const TextOptions& options) {
  std::ostringstream said;
  return error_of([&] { read_training_text(options, said); });
}

}  // namespace

TEST_CASE("training text: the last percent validates and tests unless texts are given") {
  const TemporaryFolder folder;
  TextOptions options = files_of(folder, counted("en", 250), counted("de", 250));
  std::ostringstream said;
  const TrainingText split = read_training_text(options, said);
  CHECK(split.pairs() == 248);
  CHECK(split.training.target.back() == "de247");
  CHECK(split.validation.source == std::vector<std::string>{"en248", "en249"});
  CHECK(split.validation.target == std::vector<std::string>{"de248", "de249"});
  CHECK(split.test.source == split.validation.source);
  CHECK(said.str() == "");

  write_file(folder / "valid.en", "v\n\n");
  write_file(folder / "valid.de", "w\nx\n");
  write_file(folder / "test.en", "t\n\n");
  write_file(folder / "test.de", "u\n\n");
  options.valid_source = folder / "valid.en", options.valid_target = folder / "valid.de";
  options.test_source = folder / "test.en", options.test_target = folder / "test.de";
  const TrainingText given = read_training_text(options, said);
  CHECK(given.pairs() == 250);
  CHECK(given.validation.target == std::vector<std::string>{"w"});
  CHECK(given.test.source == std::vector<std::string>{"t", ""});  // as it is: its lines are counted
  CHECK(said.str() == "dropped 1 pair of the validation text with a blank side\n");
}

TEST_CASE("training text: combines several files and drops pairs with a blank side") {
  const TemporaryFolder folder;
  TextOptions options = files_of(folder, "a\n \t\nb\n", "c\nd\n\n");
  write_file(folder / "more.en", "e\nf\n");
  write_file(folder / "more.de", "g\nh\n");
  options.train_source.push_back(folder / "more.en");
  options.train_target.push_back(folder / "more.de");
  std::ostringstream said;
  const TrainingText text = read_training_text(options, said);
  CHECK(text.training.source == std::vector<std::string>{"a", "e"});
  CHECK(text.training.target == std::vector<std::string>{"c", "g"});
  CHECK(text.validation.source == std::vector<std::string>{"f"});
  CHECK(said.str() == "dropped 2 pairs of the training text with a blank side\n");
}

TEST_CASE("training text: reports missing or too small texts") {
  const TemporaryFolder folder;
  CHECK(contains(refusal({}), "the training text has 0 source files and 0 target files"));
  TextOptions options = files_of(folder, "a\n", "b\n");
  CHECK(contains(refusal(options), "train.en has 1 pair, too few for training and validation"));
  write_file(folder / "empty", "");
  options.valid_source = options.valid_target = folder / "empty";
  CHECK(contains(refusal(options), "empty has no pairs of sentences"));
  options.valid_source = folder / "train.en", options.valid_target = folder / "train.de";
  options.test_source = options.test_target = folder / "empty";
  CHECK(contains(refusal(options), "the test text"));
  options.train_target.clear();
  CHECK(contains(refusal(options), "1 source file and 0 target files"));
}

TEST_CASE("training text: the last percent of shards is decoded for validation") {
  const TemporaryFolder folder;
  const TextOptions files = files_of(folder, counted("en", 5), counted("de", 5));
  const AnyTokenizer tokenizer = learn_byte_bpe(262, read_lines(files.train_source[0]));
  begin_corpus(folder.path(), {tokenizer, tokenizer}, "these words");
  PairStream stream({.files = {{PairFormat::lines, folder / "train.en", folder / "train.de"}}});
  complete_corpus(folder.path(), make_shards(stream, tokenizer, tokenizer, folder.path(), {.pairs = 2}));
  std::ostringstream said;
  TextOptions options{.shards = folder.path()};
  const TrainingText text = read_training_text(options, said);
  CHECK(text.pairs() == 4);
  CHECK(text.held_out == 1);
  CHECK(text.validation.source == std::vector<std::string>{"en4"});
  CHECK(text.test.target == std::vector<std::string>{"de4"});
  options.valid_source = files.train_source[0], options.valid_target = files.train_target[0];
  CHECK(read_training_text(options, said).pairs() == 5);

  const CorpusTokenizers apart{tokenizer, learn_byte_bpe(262, read_lines(files.train_target[0]))};
  begin_corpus(folder.path(), apart, "other words");
  PairStream again({.files = {{PairFormat::lines, folder / "train.en", folder / "train.de"}}});
  complete_corpus(folder.path(), make_shards(again, apart.source, apart.target, folder.path(), {.pairs = 2}));
  CHECK(read_training_text({.shards = folder.path()}, said).test.target == std::vector<std::string>{"de4"});
}
