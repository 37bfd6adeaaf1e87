#include "attn/run/begin_run.hpp"

#include <doctest/doctest.h>

#include "attn/run/cpu_models.hpp"
#include "support/files.hpp"

using namespace attn;

TEST_CASE("begin run: the folder's card says what was made, and a run goes on with its own settings only") {
  constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 1, .width = 16, .heads = 2, .inner = 32};
  models().add<Transformer<Cpu<float>, shape>>("begun");
  const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "d"});
  RunCard card{.model = {.name = "begun", .source_vocabulary = 8, .target_vocabulary = 8},
               .source = words,
               .target = words,
               .settings = {{"rate", "0.1"}, {"epochs", "2"}},
               .seed = 7};
  const TemporaryFolder folder;
  const DeviceOptions device{.device = "cpu", .threads = 1};
  CHECK(begin_run(folder.path(), card, device)->spec().name == "begun");
  const RunCard read = read_run_card(folder.path());
  CHECK(read.shape.at("width") == 16);
  CHECK(read.device == "1 thread");
  CHECK(read.settings == card.settings);

  card.settings["epochs"] = "3";
  CHECK(begin_run(folder.path(), card, device, true, {"epochs"}) != nullptr);
  card.settings["rate"] = "0.2";
  CHECK(contains(error_of([&] { begin_run(folder.path(), card, device, true, {"epochs"}); }),
                 "begun with rate 0.1, not 0.2"));
  CHECK(read_run_card(folder.path()).settings.at("rate") == "0.1");
}
