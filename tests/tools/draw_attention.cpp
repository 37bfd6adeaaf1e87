#include "common/draw_attention.hpp"

#include <doctest/doctest.h>

#include "attn/run/cpu_models.hpp"
#include "support/files.hpp"

using namespace attn;

TEST_CASE("draw attention: draws a page and a picture for each line with tokens and an index") {
  constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 1, .width = 16, .heads = 2, .inner = 32};
  models().add<Transformer<Cpu<float>, shape>>("drawn");
  const WordVocabulary words({"<unk>", "<pad>", "<sos>", "<eos>", "a", "b", "c", "d"});
  const RunConfig config{.model = {.name = "drawn", .source_vocabulary = 8, .target_vocabulary = 8},
                         .source = words,
                         .target = words,
                         .limit = 4};
  const FolderTranslator translator(config, models().make(config.model, {.device = "cpu", .threads = 1}, 7));
  const TemporaryFolder folder;
  draw_attention(translator, {"a b", "", "d"}, folder / "maps");
  for (const char* name : {"0001.html", "0001.svg", "0003.html", "0003.svg"})
    CHECK(std::filesystem::exists(folder / "maps" / name));
  CHECK(!std::filesystem::exists(folder / "maps/0002.html"));
  const std::string list = read_file(folder / "maps/index.html");
  CHECK(contains(list, "<a href='0001.html'>0001</a> a b<br/>"));
  CHECK(contains(list, "<a href='0003.html'>0003</a> d<br/>"));
}
