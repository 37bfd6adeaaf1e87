#pragma once
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "attn/run/hub_config.hpp"
#include "attn/run/marian_folder.hpp"
#include "attn/run/model_presets.hpp"
#include "attn/text/marian_tokenizer.hpp"

// Bodies of marian_folder.hpp: compiled once in attn::compiled, or inline where a program does without it.

namespace attn {

namespace detail {

inline MarianTokenizer read_marian_tokenizer(const std::filesystem::path& spm, const std::filesystem::path& vocabulary) {
  try {
    return MarianTokenizer(load_sentencepiece(spm), read_vocabulary(vocabulary));
  } catch (const Error& error) {
    const std::string sentence = error.what();
    const bool names = sentence.find(spm.string()) != sentence.npos || sentence.find(vocabulary.string()) != sentence.npos;
    fail(names ? "" : vocabulary.string() + ": ", sentence);
  }
}

/// The architecture's name and shape.
inline ModelPreset marian_model(const HubConfig& config) {
  const auto size = [&](const char* name) { return static_cast<int>(config.whole(name, 1)); };
  const auto both = [&](const char* encoder, const char* decoder) {
    if (size(encoder) != size(decoder))
      config.refuse(encoder, std::string("but ") + decoder + " is " + std::to_string(size(decoder)) +
                                 ": a Transformer of attn has as many in both");
    return size(encoder);
  };
  for (const char* other : {"normalize_before", "normalize_embedding", "add_final_layer_norm"})
    if (config.flag(other, false))
      config.refuse(other, "MarianMTModel does not compute so: only models that normalise after their sub-layers are read");
  if (!config.flag("scale_embedding", false))
    config.refuse("scale_embedding", "only models that scale their embeddings, as those of Marian do, are read");
  const auto activation = config.find("activation_function");
  if (activation != "swish" && activation != "silu" && activation != "relu" && activation != "gelu")
    config.refuse("activation_function", "swish (or silu), relu and gelu are read");
  const int heads = both("encoder_attention_heads", "decoder_attention_heads");
  if (size("d_model") % heads != 0)
    config.refuse("d_model", "it is not a multiple of the " + std::to_string(heads) + " attention heads");
  if (size("d_model") % 2 != 0) config.refuse("d_model", "sinusoidal positions come in pairs, so it must be even");
  return {
      "marian-" + (activation == "silu" ? "swish" : activation.get<std::string>()),
      {size("encoder_layers"), size("decoder_layers"), size("d_model"), heads, both("encoder_ffn_dim", "decoder_ffn_dim")}};
}

/// Refuses what would have transformers' generate() choose otherwise than a search of attn does.
inline void check_generation(const HubConfig& config) {
  const std::pair<const char*, nlohmann::json> usual[]{
      {"do_sample", false},          {"num_beam_groups", 1},
      {"diversity_penalty", 0},      {"repetition_penalty", 1},
      {"penalty_alpha", 0},          {"encoder_repetition_penalty", 1},
      {"forced_bos_token_id", {}},   {"encoder_no_repeat_ngram_size", 0},
      {"begin_suppress_tokens", {}}, {"exponential_decay_length_penalty", {}},
      {"sequence_bias", {}},         {"force_words_ids", {}},
      {"constraints", {}},           {"guidance_scale", 1}};
  for (const auto& [name, value] : usual)
    if (const auto given = config.find(name); !given.is_null() && given != value)
      config.refuse(name, "attn's search has no such thing; take the member out to search without it");
}

/// The tokens of a translation at most: transformers counts those it begins with and the end, which it puts last.
inline Index marian_limit(const HubConfig& config) {
  const Index steps = config.whole("max_new_tokens", 1, config.whole("max_length", 1, 512) - 1);
  return std::max<Index>(config.find("forced_eos_token_id").is_null() ? steps : steps - 1, 1);
}

/// How transformers' generate() searches: a beam, or nothing where it decodes greedily and forbids nothing.
inline std::optional<SearchOptions> marian_search(const HubConfig& config) {
  SearchOptions search{.beam = config.whole("num_beams", 1, 1)};
  const auto early = config.find("early_stopping");
  if (!early.is_null() && !early.is_boolean() && early != "never")
    config.refuse("early_stopping", "it must be true, false or \"never\"");
  if (search.beam > 1)
    search.stop = early == "never" ? Stop::no_better : early == true ? Stop::complete : Stop::no_better_now;
  search.score = {Score::length, config.number("length_penalty", 1)};
  search.free_end = !config.find("forced_eos_token_id").is_null();
  search.no_repeat = config.whole("no_repeat_ngram_size", 0, 0);
  search.min_length =
      std::min(std::max(config.whole("min_length", 0, 0) - 1, config.whole("min_new_tokens", 0, 0)), marian_limit(config));
  if (search.beam == 1 && search.no_repeat == 0 && search.min_length == 0) return {};
  return search;
}

/// The tokens that no translation may hold.
inline std::vector<Token> marian_never(const HubConfig& config, Index vocabulary) {
  std::vector<Token> never;
  const auto add = [&](const char* name, const nlohmann::json& token) {
    if (!token.is_number_integer() || token < 0 || token >= vocabulary)
      config.refuse(name, "it must list tokens, which count from 0 to " + std::to_string(vocabulary - 1));
    never.push_back(token);
  };
  const auto words = config.find("bad_words_ids"), tokens = config.find("suppress_tokens");
  if (!words.is_null() && !words.is_array()) config.refuse("bad_words_ids", "it must be a list of lists of tokens");
  for (const auto& word : words) {
    if (!word.is_array() || word.size() != 1)
      config.refuse("bad_words_ids", "it must be a list of lists of one token each: only single ones can be forbidden");
    add("bad_words_ids", word[0]);
  }
  if (!tokens.is_null() && !tokens.is_array()) config.refuse("suppress_tokens", "it must be a list of tokens");
  for (const auto& token : tokens) add("suppress_tokens", token);
  return never;
}

}  // namespace detail

ATTN_RUN_INLINE MarianFolder read_marian_folder(const std::filesystem::path& folder) {
  const HubConfig config(folder / "config.json");
  if (config.find("model_type") != "marian")
    config.refuse("model_type", "of Hugging Face's models those of MarianMTModel, \"marian\", are read");
  const auto weights = folder / "model.safetensors";
  require(
      std::filesystem::exists(weights), "there is no model.safetensors in ", folder.string(),
      std::filesystem::exists(folder / "pytorch_model.bin")
          ? ": pytorch_model.bin is a program in Python's own format, which attn does not run; let transformers write the "
            "weights again, MarianMTModel.from_pretrained(folder).save_pretrained(folder)"
          : ": the folder is not complete");
  const bool shared = config.flag("share_encoder_decoder_embeddings", true);
  const ModelPreset preset = detail::marian_model(config);

  const SafetensorsFile file(weights);
  const auto rows_of = [&](std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (const TensorView* table = file.find(name); table != nullptr) {
        require(table->shape.size() == 2, weights.string(), ": tensor '", name, "' has ", table->shape.size(),
                " dimensions; a table of words' vectors has 2");
        return table->shape[0];
      }
    fail(weights.string(), ": there is no tensor '", *names.begin(), "', the table of words' vectors");
  };
  ModelSpec model{.name = preset.architecture, .share_embeddings = shared, .shape = preset.shape};
  model.target_vocabulary = shared ? rows_of({"model.shared.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"})
                                   : rows_of({"model.decoder.embed_tokens.weight", "lm_head.weight"});
  model.source_vocabulary = shared ? model.target_vocabulary : rows_of({"model.encoder.embed_tokens.weight"});
  model.tie_output = config.flag("tie_word_embeddings", true);

  const auto vocabulary = folder / "vocab.json", other = folder / "target_vocab.json";
  const bool separate = !shared && std::filesystem::exists(other);
  const MarianTokenizer source = detail::read_marian_tokenizer(folder / "source.spm", vocabulary);
  const MarianTokenizer target = detail::read_marian_tokenizer(folder / "target.spm", separate ? other : vocabulary);
  require(source.size() <= model.source_vocabulary && target.size() <= model.target_vocabulary, folder.string(),
          ": the vocabularies have ", source.size(), " and ", target.size(), " tokens, the model's tables ",
          model.source_vocabulary, " and ", model.target_vocabulary, "; the files belong to different models");

  const auto how = folder / "generation_config.json";
  const HubConfig generation = std::filesystem::exists(how) ? HubConfig(how) : config;
  for (const HubConfig* one : {&config, &generation}) {
    one->check_token("eos_token_id", target.end());
    one->check_token("forced_eos_token_id", target.end());
    one->check_token("pad_token_id", target.pad());
    one->check_token("decoder_start_token_id", target.begin());
  }
  detail::check_generation(generation);
  std::vector<Token> never = detail::marian_never(generation, model.target_vocabulary);
  never.insert(never.begin(), target.pad());
  RunCard card{.model = std::move(model), .source = source, .target = target};
  card.truncate = std::max<Index>(config.whole("max_position_embeddings", 1, 512) - 1, 1);
  card.limit = detail::marian_limit(generation);
  card.search = detail::marian_search(generation);
  return {std::move(card), std::move(never)};
}

}  // namespace attn
