#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "attn/run/marian_folder.hpp"
#include "attn/text/marian_tokenizer.hpp"

// Bodies of marian_folder.hpp: compiled once in attn::compiled, or inline where a program does without it.

namespace attn {

namespace detail {

/// A JSON object in a file.
inline nlohmann::json read_object(const std::filesystem::path& path) {
  const auto object = nlohmann::json::parse(read_file(path), nullptr, false);
  require(object.is_object(), path.string(), ": must be a JSON object; the file may be damaged or cut short");
  return object;
}

/// A member of a config, or what holds where it is not there or null.
template <class T>
T value_or(const nlohmann::json& config, const char* name, T otherwise) {
  const auto found = config.find(name);
  return found == config.end() || found->is_null() ? otherwise : found->get<T>();
}

inline MarianTokenizer read_marian_tokenizer(const std::filesystem::path& spm, const std::filesystem::path& vocabulary) {
  try {
    return MarianTokenizer(load_sentencepiece(spm), read_vocabulary(vocabulary));
  } catch (const Error& error) {
    const std::string sentence = error.what();
    const bool names = sentence.find(spm.string()) != sentence.npos || sentence.find(vocabulary.string()) != sentence.npos;
    fail(names ? "" : vocabulary.string() + ": ", sentence);
  }
}

inline MarianShape marian_shape(const nlohmann::json& config, const std::filesystem::path& path) {
  const auto both = [&](const char* what, const char* encoder, const char* decoder) {
    const int of_encoder = config.at(encoder), of_decoder = config.at(decoder);
    require(of_encoder == of_decoder, path.string(), ": the encoder's ", what, " are ", of_encoder, ", the decoder's ",
            of_decoder, "; a Transformer of attn has as many in both");
    return of_encoder;
  };
  for (const char* other : {"normalize_before", "normalize_embedding", "add_final_layer_norm"})
    require(!value_or(config, other, false), path.string(), ": ", other,
            " is set, which is not how MarianMTModel computes; only models that normalise after their sub-layers are read");
  require(value_or(config, "scale_embedding", false), path.string(),
          ": scale_embedding is not set; only models that scale their embeddings, as those of Marian do, are read");
  return {config.at("encoder_layers"),
          config.at("decoder_layers"),
          config.at("d_model"),
          both("heads", "encoder_attention_heads", "decoder_attention_heads"),
          both("inner numbers", "encoder_ffn_dim", "decoder_ffn_dim"),
          config.at("activation_function")};
}

/// How transformers' generate() searches by default: a beam, or nothing where it decodes greedily.
inline std::optional<SearchOptions> marian_search(const nlohmann::json& config) {
  SearchOptions search{.beam = value_or<Index>(config, "num_beams", 1)};
  if (search.beam <= 1) return {};
  search.score = {Score::length, value_or(config, "length_penalty", 1.0)};
  const auto early = config.find("early_stopping");
  search.stop = early == config.end() || early->is_null() || *early == false ? Stop::no_better_now
                : *early == true                                             ? Stop::complete
                                                                             : Stop::no_better;
  search.no_repeat = value_or<Index>(config, "no_repeat_ngram_size", 0);
  return search;
}

/// The tokens of a translation at most: transformers counts those it begins with and the end, which it puts last.
inline Index marian_limit(const nlohmann::json& config) {
  const Index steps = value_or<Index>(config, "max_new_tokens", value_or<Index>(config, "max_length", 512) - 1);
  const auto forced = config.find("forced_eos_token_id");
  return std::max<Index>(forced == config.end() || forced->is_null() ? steps : steps - 1, 1);
}

}  // namespace detail

ATTN_RUN_INLINE bool is_marian_folder(const std::filesystem::path& folder) {
  if (!std::filesystem::is_regular_file(folder / "config.json")) return false;
  const auto config = detail::read_object(folder / "config.json");
  return config.value("model_type", nlohmann::json()) == "marian";
}

ATTN_RUN_INLINE MarianFolder read_marian_folder(const std::filesystem::path& folder) {
  using nlohmann::json;
  const auto path = folder / "config.json", weights = folder / "model.safetensors";
  require(
      std::filesystem::exists(weights), "there is no model.safetensors in ", folder.string(),
      std::filesystem::exists(folder / "pytorch_model.bin")
          ? ": pytorch_model.bin is a program in Python's own format, which attn does not run; let transformers write the "
            "weights again, MarianMTModel.from_pretrained(folder).save_pretrained(folder)"
          : ": the folder is not complete");
  try {
    const json config = detail::read_object(path);
    const bool shared = detail::value_or(config, "share_encoder_decoder_embeddings", true);
    const MarianShape shape = detail::marian_shape(config, path);

    const SafetensorsFile file(weights);
    const auto rows_of = [&](std::initializer_list<const char*> names) {
      for (const char* name : names)
        if (const TensorView* table = file.find(name); table != nullptr && table->shape.size() == 2) return table->shape[0];
      fail(weights.string(), ": there is no tensor '", *names.begin(), "', the table of words' vectors");
    };
    ModelSpec model{.name = marian_name(shape), .share_embeddings = shared};
    model.target_vocabulary = shared
                                  ? rows_of({"model.shared.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"})
                                  : rows_of({"model.decoder.embed_tokens.weight", "lm_head.weight"});
    model.source_vocabulary = shared ? model.target_vocabulary : rows_of({"model.encoder.embed_tokens.weight"});
    model.tie_output = detail::value_or(config, "tie_word_embeddings", true);

    const auto vocabulary = folder / "vocab.json", other = folder / "target_vocab.json";
    const bool separate = !shared && std::filesystem::exists(other);
    const MarianTokenizer source = detail::read_marian_tokenizer(folder / "source.spm", vocabulary);
    const MarianTokenizer target = detail::read_marian_tokenizer(folder / "target.spm", separate ? other : vocabulary);
    require(source.size() <= model.source_vocabulary && target.size() <= model.target_vocabulary, folder.string(),
            ": the vocabularies have ", source.size(), " and ", target.size(), " tokens, the model's tables ",
            model.source_vocabulary, " and ", model.target_vocabulary, "; the files belong to different models");
    const auto same = [&](const char* name, Token here) {
      const auto there = detail::value_or<Token>(config, name, here);
      require(there == here, path.string(), ": ", name, " is ", there, ", but ", here, " in the vocabulary");
    };
    same("eos_token_id", target.end());
    same("pad_token_id", target.pad());
    same("decoder_start_token_id", target.begin());

    const auto how = folder / "generation_config.json";
    const json generation = std::filesystem::exists(how) ? detail::read_object(how) : config;
    RunCard card{.model = std::move(model), .source = source, .target = target};
    card.truncate = std::max<Index>(detail::value_or<Index>(config, "max_position_embeddings", 512) - 1, 1);
    card.limit = detail::marian_limit(generation);
    card.search = detail::marian_search(generation);
    std::vector<Token> never{target.pad()};
    for (const auto& words : detail::value_or(generation, "bad_words_ids", std::vector<std::vector<Token>>{})) {
      require(words.size() == 1, path.string(), ": bad_words_ids has a sequence of ", words.size(),
              " tokens; single ones can be forbidden");
      never.push_back(words[0]);
    }
    return {std::move(card), std::move(never)};
  } catch (const json::exception& error) {
    fail(path.string(), " is damaged or was changed by hand: ", error.what());
  }
}

}  // namespace attn
