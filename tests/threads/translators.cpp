// Translators in several threads, for the thread sanitizer.
#include <doctest/doctest.h>

#include <thread>

#include "attn/cpu.hpp"
#include "attn/models/transformer.hpp"
#include "attn/run/open_translator.hpp"
#include "attn/run/run_folder.hpp"
#include "attn/train/checkpoint.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "d"});
const std::vector<std::string> lines{"a b c", "", "d", "c a", "b b b b"};

/// The folder of a model that was not trained: its translations are words all the same.
struct Folder {
  TemporaryFolder folder;
  Folder() {
    RunConfig config{
        {.name = "transformer-small", .source_vocabulary = 8, .target_vocabulary = 8, .dropout = 0}, words, words};
    config.limit = 6;
    write_run_config(folder.path(), config);
    Cpu<float> device(1);
    const Network<Transformer<Cpu<float>, small_shape>> network(
        device, {.source_vocabulary = 8, .target_vocabulary = 8, .tie_output = config.model.tie_output}, 3);
    save_model(folder / "model.safetensors", network.parameters);
  }
  FolderTranslator open() const { return open_translator(folder.path(), {.device = "cpu", .threads = 2}); }
};

/// What `translate` gives in each of two threads at once.
template <class Translate>
std::vector<std::vector<std::string>> in_two_threads(const Translate& translate) {
  std::vector<std::vector<std::string>> given(2);
  {
    std::jthread first([&] { given[0] = translate(0); }), second([&] { given[1] = translate(1); });
  }
  return given;
}

}  // namespace

TEST_CASE("threads: one translator shared by two threads gives the same results as alone") {
  const Folder folder;
  const FolderTranslator shared = folder.open();
  const auto alone = shared(lines);
  CHECK(alone.size() == lines.size());
  for (int round = 0; round < 5; ++round)
    CHECK(in_two_threads([&](int) { return shared(lines); }) == std::vector{alone, alone});
}

TEST_CASE("threads: two translators in two threads do not interfere") {
  const Folder folder;
  const FolderTranslator one = folder.open(), other = folder.open();
  const auto alone = one(lines);
  for (int round = 0; round < 5; ++round)
    CHECK(in_two_threads([&](int i) { return i == 0 ? one(lines) : other(lines); }) == std::vector{alone, alone});
}

TEST_CASE("threads: several threads may open one folder at once") {
  const Folder folder;
  const auto alone = folder.open()(lines);
  CHECK(in_two_threads([&](int) { return folder.open()(lines); }) == std::vector{alone, alone});
}
