#include "attn/run/marian_folder.hpp"

#include <doctest/doctest.h>

#include "attn/models/marian.hpp"
#include "attn/run/cpu_models.hpp"
#include "attn/run/open_translator.hpp"
#include "attn/train/checkpoint.hpp"
#include "support/files.hpp"
#include "text/sentencepiece_bytes.hpp"

using namespace attn;
using nlohmann::json;

namespace {

constexpr TransformerShape shape{.encoder_layers = 1, .decoder_layers = 2, .width = 8, .heads = 2, .inner = 16};
using Small = Marian<Cpu<float>, shape, Swish>;
constexpr Index vocabulary = 7;

/// A folder as Hugging Face has them, of a model with random weights.
struct Folder {
  TemporaryFolder folder;
  Cpu<float> device{1};
  Network<Small> network{device, {vocabulary, vocabulary, {}, true, true}, 3};
  json config{
      {"model_type", "marian"},         {"encoder_layers", 1},           {"decoder_layers", 2},     {"d_model", 8},
      {"encoder_attention_heads", 2},   {"decoder_attention_heads", 2},  {"encoder_ffn_dim", 16},   {"decoder_ffn_dim", 16},
      {"activation_function", "swish"}, {"scale_embedding", true},       {"eos_token_id", 0},       {"pad_token_id", 6},
      {"decoder_start_token_id", 6},    {"max_position_embeddings", 20}, {"forced_eos_token_id", 0}};

  Folder() {
    using Kind = SentencePieceModel::PieceKind;
    std::string pieces = wire::piece("<unk>", 0, Kind::unknown);
    for (const char* text : {"\u2581", "a", "b", "\u2581ab"}) pieces += wire::piece(text, -1, Kind::normal);
    write_file(folder / "source.spm", pieces);
    write_file(folder / "target.spm", pieces);
    write_file(folder / "vocab.json",
               json{{"</s>", 0}, {"<unk>", 1}, {"\u2581", 2}, {"a", 3}, {"b", 4}, {"\u2581ab", 5}, {"<pad>", 6}}.dump());
    save_weights();
    save();
  }

  void save() const { write_file(folder / "config.json", config.dump()); }

  /// The network's parameters under the names of MarianMTModel.
  void save_weights() const {
    std::vector<std::vector<float>> numbers;
    std::vector<TensorView> tensors;
    numbers.reserve(200);
    const auto add = [&](std::string name, std::vector<float> values, std::vector<Index> extents) {
      numbers.push_back(std::move(values));
      tensors.push_back(tensor_view<float>(std::move(name), numbers.back(), std::move(extents)));
    };
    const auto replaced = [](std::string name, std::string_view from, std::string_view to) {
      if (const auto at = name.find(from); at != name.npos) name.replace(at, from.size(), to);
      return name;
    };
    for (const auto& entry : network.parameters.entries()) {
      const auto values = network.parameters.read(entry);
      std::string name = "model." + entry.name;
      if (entry.name == "target_embedding.table") name = "model.shared.weight";
      if (entry.name == "output.bias") {
        add("final_logits_bias", values, {1, entry.rows});
        continue;
      }
      for (const auto& [ours, theirs] : {std::pair{".self_attention.", ".self_attn."},
                                         {".cross_attention.", ".encoder_attn."},
                                         {".attention.", ".self_attn."},
                                         {".attention_norm.", ".self_attn_layer_norm."},
                                         {".self_norm.", ".self_attn_layer_norm."},
                                         {".cross_norm.", ".encoder_attn_layer_norm."},
                                         {".feed_forward_norm.", ".final_layer_norm."},
                                         {".feed_forward.up.", ".fc1."},
                                         {".feed_forward.down.", ".fc2."},
                                         {".out.", ".out_proj."},
                                         {".gain", ".weight"}})
        name = replaced(name, ours, theirs);
      const auto rows_of = [&](Index first, Index count) {
        return std::vector<float>(values.begin() + first * entry.cols, values.begin() + (first + count) * entry.cols);
      };
      const auto extents = [&](Index rows) {
        return entry.cols == 1 ? std::vector<Index>{rows} : std::vector<Index>{rows, entry.cols};
      };
      if (name.find("attn.in.") == name.npos) {
        add(name, values, extents(entry.rows));
      } else {
        Index first = 0;
        for (const char* part : {"attn.q_proj.", "attn.k_proj.", "attn.v_proj."})
          add(replaced(name, "attn.in.", part), rows_of(first++ * 8, 8), extents(8));
      }
    }
    add("model.encoder.embed_positions.weight", std::vector<float>(160), {20, 8});  // as some files have it: left over
    save_safetensors(folder / "model.safetensors", tensors);
  }

  std::string refused() const {
    save();
    return error_of([&] { open_translator(folder.path(), {.device = "cpu", .threads = 1}); });
  }
};

}  // namespace

TEST_CASE("marian folder: translates as the saved model") {
  Folder made;
  const FolderTranslator translator = open_translator(made.folder.path(), {.device = "cpu", .threads = 1});
  CHECK(translator.config().model.name == "marian-swish");
  CHECK(translator.config().model.shape == shape);
  CHECK(translator.config().limit == 18);  // 20 without its begin and its end: there are 20 positions
  CHECK(translator.config().truncate == 19);
  CHECK(!translator.options.search);
  CHECK(translator.options.never == std::vector<Token>{6});  // padding

  const auto source = translator.config().source.encode("aba"), target = translator.config().target.encode("bb");
  CHECK(source == std::vector<Token>{5, 3});
  CHECK(target == std::vector<Token>{2, 4, 4});
  const auto theirs = next_token(made.device, made.network.model, {6, 0, 0}, source, target);
  for (const auto& [token, name, probability] : translator.next_token("aba", "bb")) {
    const std::string& word = name;
    INFO(word);
    CHECK(probability == doctest::Approx(theirs[static_cast<std::size_t>(token)]).epsilon(1e-5));
  }
  CHECK(translator({"ab", "", "a b"}).size() == 3);
}

TEST_CASE("marian folder: search settings come from generation_config.json or else config.json") {
  Folder made;
  const auto config = [&] { return read_marian_folder(made.folder.path()); };
  const auto search = [&] { return config().search; };
  made.config.update({{"num_beams", 6}, {"max_length", 30}, {"bad_words_ids", {{6}, {2}}}});
  made.save();
  CHECK(search()->beam == 6);
  CHECK(search()->stop == Stop::no_better_now);
  CHECK(config().limit == 28);
  CHECK(config().never == std::vector<Token>{6, 6, 2});
  CHECK_FALSE(search()->renormalize);
  const auto generation = [&](const json& how) { write_file(made.folder / "generation_config.json", how.dump()); };
  generation({{"num_beams", 4},
              {"early_stopping", true},
              {"length_penalty", 0.5},
              {"max_new_tokens", 9},
              {"no_repeat_ngram_size", 3}});
  CHECK(search()->beam == 4);
  CHECK(search()->stop == Stop::complete);
  CHECK(search()->score.amount == 0.5);
  CHECK(search()->no_repeat == 3);
  CHECK(config().limit == 9);  // nothing forces the end
  generation({{"num_beams", 2}, {"early_stopping", "never"}});
  CHECK(search()->stop == Stop::no_better);
  CHECK(!search()->free_end);
  generation({{"num_beams", 1}});
  CHECK(!search());
  generation({{"num_beams", 1}, {"no_repeat_ngram_size", 2}, {"early_stopping", true}});
  CHECK((search()->beam == 1 && search()->no_repeat == 2 && search()->stop == Stop::complete));
  generation({{"min_length", 5}, {"max_length", 30}, {"forced_eos_token_id", 0}});
  CHECK((search()->beam == 1 && search()->min_length == 4 && search()->free_end));  // transformers counts the first
  generation({{"min_length", 5}, {"min_new_tokens", 7}, {"eos_token_id", {0}}});
  CHECK(search()->min_length == 7);
  generation({{"min_length", 50}, {"max_length", 30}});
  CHECK(search()->min_length == 29);
  generation({{"suppress_tokens", {3, 4}}, {"bad_words_ids", {{2}}}, {"renormalize_logits", true}});
  CHECK(config().never == std::vector<Token>{6, 2, 3, 4});
  generation(
      {{"num_beams", 2}, {"renormalize_logits", true}, {"transformers_version", "4.0"}, {"_from_model_config", true}});
  CHECK(search()->renormalize);
  generation({{"num_beams", 4}, {"repetition_penalty", 1.0}, {"do_sample", false}, {"forced_bos_token_id", nullptr}});
  CHECK(search()->beam == 4);
}

TEST_CASE("marian folder: the length limit follows transformers and includes begin and forced end tokens") {
  Folder made;
  made.config["max_position_embeddings"] = 100;
  made.save();
  const auto limit = [&](const json& how) {
    write_file(made.folder / "generation_config.json", how.dump());
    return read_marian_folder(made.folder.path()).limit;
  };
  CHECK(limit(json::object()) == 20);
  CHECK(limit({{"forced_eos_token_id", 0}}) == 19);
  CHECK(limit({{"max_length", 200}}) == 199);
  CHECK(limit({{"max_length", 2}}) == 1);
  CHECK(limit({{"max_length", 2}, {"forced_eos_token_id", 0}}) == 0);
  CHECK(limit({{"max_new_tokens", 1}, {"forced_eos_token_id", 0}}) == 0);
  for (const int beam : {1, 3}) {
    limit({{"max_length", 2}, {"forced_eos_token_id", 0}, {"num_beams", beam}});
    const FolderTranslator translator = open_translator(made.folder.path(), {.device = "cpu", .threads = 1});
    CHECK(translator({"ab", "a b"}) == std::vector<std::string>{"", ""});
  }
}

TEST_CASE("marian folder: forbidden tokens keep their probability unless renormalized") {
  Folder made;
  const auto score = [&](const json& how) {
    write_file(made.folder / "generation_config.json", how.dump());
    FolderTranslator translator = open_translator(made.folder.path(), {.device = "cpu", .threads = 1});
    return translator.translate({"aba"})[0].n_best[0];
  };
  const auto plain = score({{"num_beams", 2}, {"max_length", 2}, {"suppress_tokens", {2, 3}}});
  const auto renormalized =
      score({{"num_beams", 2}, {"max_length", 2}, {"suppress_tokens", {2, 3}}, {"renormalize_logits", true}});
  const SpecialTokens special_tokens{6, 0, 0};
  const auto p = next_token(made.device, made.network.model, special_tokens, std::vector<Token>{5, 3}, {});
  const Token best = plain.tokens.empty() ? 0 : plain.tokens[0];
  for (const Token token : {0, 1, 4, 5}) CHECK(p[static_cast<std::size_t>(token)] <= p[static_cast<std::size_t>(best)]);
  CHECK(plain.tokens == renormalized.tokens);
  const double its = p[static_cast<std::size_t>(best)], others = 1 - p[2] - p[3] - p[6];
  CHECK(plain.log_probability == doctest::Approx(std::log(its)).epsilon(1e-5));
  CHECK(renormalized.log_probability == doctest::Approx(std::log(its / others)).epsilon(1e-5));
}

TEST_CASE("marian folder: the error for an unknown setting suggests a name") {
  const Folder made;
  const auto with = [&](const json& how) {
    write_file(made.folder / "generation_config.json", how.dump());
    return made.refused();
  };
  CHECK(contains(with({{"num_beam", 4}}),
                 "generation_config.json: num_beam is 4; transformers has no such setting; did you mean num_beams?"));
  CHECK(contains(with({{"lenght_penalty", 0.5}}), "did you mean length_penalty?"));
  CHECK(contains(with({{"something_of_its_own", 1}}), "no such setting; remove it to search without it"));
  CHECK(with({{"use_cache", true}, {"top_k", 50}, {"_commit_hash", "x"}}).empty());
}

TEST_CASE("marian folder: errors for unsupported searches and invalid values name file and setting") {
  const Folder made;
  const auto with = [&](const json& how) {
    write_file(made.folder / "generation_config.json", how.dump());
    const std::string sentence = made.refused();
    CHECK(contains(sentence, "generation_config.json: " + how.begin().key() + " is " + how.begin()->dump() + "; "));
    return sentence;
  };
  for (const json& how : {json{{"repetition_penalty", 2.0}}, json{{"do_sample", true}}, json{{"forced_bos_token_id", 3}},
                          json{{"num_beam_groups", 2}}, json{{"force_words_ids", {{3}}}}})
    CHECK(contains(with(how), "remove it to search without it"));
  for (const json& value : {json(0), json(-3), json(2.5), json("six"), json(1e30)})
    CHECK(contains(with({{"num_beams", value}}), "it must be a whole number of at least 1"));
  for (const int least : {-7, 1}) CHECK(contains(with({{"max_length", least}}), "it must be a whole number of at least 2"));
  CHECK(contains(with({{"early_stopping", "foo"}}), "it must be true, false or \"never\""));
  CHECK(contains(with({{"length_penalty", "long"}}), "it must be a number"));
  CHECK(contains(with({{"bad_words_ids", {{2, 3}}}}), "each list must contain exactly one token"));
  CHECK(contains(with({{"bad_words_ids", {{999999}}}}), "tokens, which count from 0 to 6"));
  CHECK(contains(with({{"bad_words_ids", 2}}), "it must be a list of lists of tokens"));
  CHECK(contains(with({{"suppress_tokens", {-1}}}), "tokens, which count from 0 to 6"));
  CHECK(contains(with({{"eos_token_id", {0, 3}}}), "but it is 0 in the vocabulary"));
  CHECK(contains(with({{"forced_eos_token_id", 2}}), "but it is 0 in the vocabulary"));
}

TEST_CASE("marian folder: missing and unexpected files are clear errors") {
  Folder made;
  const json good = made.config;
  const auto with = [&](const char* name, const json& value) {
    made.config = good;
    made.config[name] = value;
    return made.refused();
  };
  CHECK(contains(with("d_model", 24), "the file belongs to another model"));
  CHECK(contains(with("d_model", 7), "d_model is 7; it is not a multiple of the 2 attention heads"));
  CHECK(contains(with("activation_function", "tanh"),
                 "activation_function is \"tanh\"; it must be swish, silu, relu or gelu"));
  CHECK(with("activation_function", "silu").empty());
  CHECK(contains(with("decoder_ffn_dim", 32), "encoder_ffn_dim is 16; but decoder_ffn_dim is 32"));
  CHECK(contains(with("decoder_attention_heads", 4), "encoder_attention_heads is 2; but decoder_attention_heads is 4"));
  CHECK(contains(with("normalize_before", true), "normalize_before is true; attn supports post-norm Marian models only"));
  CHECK(contains(with("scale_embedding", false), "scale_embedding is false; it must be true"));
  CHECK(contains(with("scale_embedding", "yes"), "scale_embedding is \"yes\"; it must be true or false"));
  CHECK(contains(with("eos_token_id", 3), "config.json: eos_token_id is 3; but it is 0 in the vocabulary"));
  CHECK(contains(with("d_model", "wide"), "config.json: d_model is \"wide\"; it must be a whole number of at least 1"));
  CHECK(contains(with("d_model", nullptr), "d_model is null; it must be a whole number of at least 1"));
  CHECK(contains(with("model_type", "bart"), "config.json: model_type is \"bart\"; attn reads only MarianMTModel folders"));

  made.config = good;
  write_file(made.folder / "config.json", "{\"model_type\": ");
  CHECK(contains(error_of([&] { open_translator(made.folder.path()); }), "config.json: must be a JSON object"));
  write_file(made.folder / "vocab.json", "{\"</s>\": 0, \"<unk>\": 1}");
  CHECK(contains(made.refused(), "vocab.json: the vocabulary has no token <pad>"));
  write_file(made.folder / "source.spm", "x");
  CHECK(contains(made.refused(), "source.spm: not a SentencePiece model"));
  std::filesystem::remove(made.folder / "model.safetensors");
  CHECK(contains(made.refused(), "there is no model.safetensors in"));
  write_file(made.folder / "pytorch_model.bin", "x");
  CHECK(contains(made.refused(), "Convert it with save_pretrained"));
}

TEST_CASE("marian folder: the error for an invalid embedding table names it") {
  const Folder made;
  const std::vector<float> numbers(vocabulary);
  const std::vector<TensorView> tensors{tensor_view<float>("model.shared.weight", numbers, {vocabulary})};
  save_safetensors(made.folder / "model.safetensors", tensors);
  CHECK(contains(made.refused(), "tensor 'model.shared.weight' has 1 dimensions; an embedding table has 2"));
}

TEST_CASE("marian folder: a vocabulary larger than the embedding tables is rejected") {
  const Folder made;
  write_file(made.folder / "vocab.json",
             json{{"</s>", 0}, {"<unk>", 1}, {"a", 2}, {"b", 3}, {"c", 4}, {"d", 5}, {"e", 6}, {"<pad>", 7}}.dump());
  CHECK(contains(made.refused(), "the vocabularies have 8 and 8 tokens, the model's tables 7 and 7"));
}
