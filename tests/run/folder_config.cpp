#include "attn/run/marian_folder.hpp"

#include <doctest/doctest.h>

#include "support/files.hpp"
#include "text/sentencepiece_bytes.hpp"

using namespace attn;
using nlohmann::json;

TEST_CASE("folder config: read from a training folder") {
  const WordVocabulary source({"<unk>", "<pad>", "<sos>", "<eos>", "a"}), target({"<unk>", "<pad>", "<sos>", "<eos>", "b"});
  const TemporaryFolder folder;
  write_run_config(
      folder.path(),
      {.model = {.name = "any", .source_vocabulary = 8, .target_vocabulary = 8}, .source = source, .target = target});
  const auto read = read_folder_config(folder.path());
  CHECK(read.source.hash() == source.hash());
  CHECK(read.target.hash() == target.hash());
}

TEST_CASE("folder config: read from a MarianMTModel folder and other folders are rejected") {
  using Kind = SentencePieceModel::PieceKind;
  const TemporaryFolder folder;
  CHECK(contains(error_of([&] { read_folder_config(folder.path()); }), "there is no model.json in"));
  for (const auto& [file, word] : {std::pair{"source.spm", "\u2581a"}, {"target.spm", "\u2581b"}})
    write_file(folder / file, wire::piece("<unk>", 0, Kind::unknown) + wire::piece(word, -1, Kind::normal));
  write_file(folder / "vocab.json", json{{"</s>", 0}, {"<unk>", 1}, {"\u2581a", 2}, {"\u2581b", 3}, {"<pad>", 4}}.dump());
  json config{{"model_type", "marian"}, {"activation_function", "swish"}, {"d_model", 2}, {"scale_embedding", true}};
  for (const std::string side : {"encoder_", "decoder_"})
    config.update({{side + "layers", 1}, {side + "attention_heads", 1}, {side + "ffn_dim", 4}});
  write_file(folder / "config.json", config.dump());
  const std::vector<float> table(10);
  save_safetensors(folder / "model.safetensors", std::vector{tensor_view<float>("model.shared.weight", table, {5, 2})});
  const auto read = read_folder_config(folder.path());
  CHECK(read.source.encode("a a") == std::vector<Token>{2, 2});
  CHECK(read.target.encode("b b") == std::vector<Token>{3, 3});
  config["model_type"] = "bart";
  write_file(folder / "config.json", config.dump());
  CHECK(contains(error_of([&] { read_folder_config(folder.path()); }), "config.json: model_type is \"bart\"; "));
}
