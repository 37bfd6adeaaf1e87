#pragma once
#include "attn/checkpoint/safetensors.hpp"
#include "attn/core/parameter_groups.hpp"
#include "attn/run/run_folder.hpp"
#include "attn/text/marian_tokenizer.hpp"

namespace attn {

/// Reads config.json or generation_config.json of Hugging Face. A missing or null member has the value `otherwise`; a
/// member of another type is an error.
class HubConfig {
 public:
  explicit HubConfig(std::filesystem::path path) : path_(std::move(path)), object_(parse_json(read_file(path_))) {
    require(object_.is_object(), path_.string(), ": must be a JSON object; the file may be damaged or cut short");
  }

  const nlohmann::json& members() const { return object_; }
  nlohmann::json find(const char* name) const { return object_.value(name, nlohmann::json()); }
  [[noreturn]] void refuse(const std::string& name, const std::string& why) const {
    fail(path_.string(), ": ", name, " is ", json_text(find(name.c_str())), "; ", why);
  }

  /// An integer from `least` to the maximum of int.
  Index whole(const char* name, Index least, std::optional<Index> otherwise = {}) const {
    const auto value = find(name);
    if (value.is_null() && otherwise) return *otherwise;
    if (!value.is_number_integer() || value < least || value > std::numeric_limits<int>::max())
      refuse(name, "it must be a whole number of at least " + std::to_string(least));
    return value;
  }
  double number(const char* name, double otherwise) const {
    const auto value = find(name);
    if (!value.is_null() && !value.is_number()) refuse(name, "it must be a number");
    return value.is_null() ? otherwise : value.get<double>();
  }
  bool flag(const char* name, bool otherwise) const {
    const auto value = find(name);
    if (!value.is_null() && !value.is_boolean()) refuse(name, "it must be true or false");
    return value.is_null() ? otherwise : value.get<bool>();
  }

  /// Checks that a token, if given, equals that of the vocabulary.
  void check_token(const char* name, Token token) const {
    auto value = find(name);
    if (value.is_array() && value.size() == 1) value = nlohmann::json(value[0]);
    if (!value.is_null() && value != token) refuse(name, "but it is " + std::to_string(token) + " in the vocabulary");
  }

 private:
  std::filesystem::path path_;
  nlohmann::json object_;
};

// A folder in the layout of Hugging Face's MarianMTModel, such as those of OPUS-MT.
//
//   config.json                     model_type marian, the shape, special tokens
//   model.safetensors               the weights
//   source.spm, target.spm          SentencePiece models of the languages
//   vocab.json, target_vocab.json   ids of the pieces; a single file if both languages share a vocabulary
//   generation_config.json          search settings; optional, may also be in config.json

/// Whether a folder is a Hugging Face model, of any type, and not a run.
inline bool is_hub_folder(const std::filesystem::path& folder) {
  return !has_run(folder) && file_exists(folder / "config.json");
}

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

inline ModelPreset marian_model(const HubConfig& config) {
  const auto size = [&](const char* name) { return static_cast<int>(config.whole(name, 1)); };
  const auto both = [&](const char* encoder, const char* decoder) {
    if (size(encoder) != size(decoder))
      config.refuse(encoder, std::string("but ") + decoder + " is " + std::to_string(size(decoder)) +
                                 ": attn needs the same number in encoder and decoder");
    return size(encoder);
  };
  for (const char* other : {"normalize_before", "normalize_embedding", "add_final_layer_norm"})
    if (config.flag(other, false)) config.refuse(other, "attn supports post-norm Marian models only");
  if (!config.flag("scale_embedding", false)) config.refuse("scale_embedding", "it must be true");
  const auto activation = config.find("activation_function");
  if (activation != "swish" && activation != "silu" && activation != "relu" && activation != "gelu")
    config.refuse("activation_function", "it must be swish, silu, relu or gelu");
  const int heads = both("encoder_attention_heads", "decoder_attention_heads");
  if (size("d_model") % heads != 0)
    config.refuse("d_model", "it is not a multiple of the " + std::to_string(heads) + " attention heads");
  if (size("d_model") % 2 != 0) config.refuse("d_model", "sinusoidal positions come in pairs, so it must be even");
  return {
      "marian-" + (activation == "silu" ? "swish" : activation.get<std::string>()),
      {size("encoder_layers"), size("decoder_layers"), size("d_model"), heads, both("encoder_ffn_dim", "decoder_ffn_dim")}};
}

/// Rejects settings that change the result of transformers' generate() and that attn's search does not support. Of
/// generation_config.json, also rejects members unknown to transformers: most are misspelled. Names that begin with _ are
/// internal to transformers.
inline void check_generation(const HubConfig& config, bool is_generation_config) {
  static const auto usual = nlohmann::ordered_json::parse(R"({
      "do_sample": false, "num_beam_groups": 1, "diversity_penalty": 0, "repetition_penalty": 1, "penalty_alpha": 0,
      "encoder_repetition_penalty": 1, "forced_bos_token_id": null, "encoder_no_repeat_ngram_size": 0,
      "begin_suppress_tokens": null, "exponential_decay_length_penalty": null, "sequence_bias": null,
      "force_words_ids": null, "constraints": null, "guidance_scale": 1, "forced_decoder_ids": null,
      "stop_strings": null, "max_time": null, "dola_layers": null, "watermarking_config": null,
      "token_healing": false})");
  for (const auto& [name, value] : usual.items())
    if (const auto given = config.find(name.c_str()); !given.is_null() && given != nlohmann::json(value))
      config.refuse(name, "attn's search does not support it; remove it to search without it");
  if (!is_generation_config) return;
  std::istringstream other_names(
      "assistant_confidence_threshold assistant_early_exit assistant_ensemble_weight assistant_lookbehind bad_words_ids "
      "bos_token_id cache_config cache_implementation compile_config continuous_batching_config decoder_start_token_id "
      "disable_compile early_stopping eos_token_id epsilon_cutoff eta_cutoff forced_eos_token_id generation_kwargs "
      "is_assistant length_penalty low_memory max_cache_len max_length max_matching_ngram_size max_new_tokens min_length "
      "min_new_tokens min_p no_repeat_ngram_size num_assistant_tokens num_assistant_tokens_schedule num_beams "
      "num_return_sequences output_attentions output_hidden_states output_logits output_scores pad_token_id "
      "prefill_chunk_size prompt_lookup_num_tokens remove_invalid_values renormalize_logits return_dict_in_generate "
      "return_legacy_cache speculation_type suppress_tokens target_lookbehind temperature top_h top_k top_p "
      "transformers_version typical_p use_cache use_mtp");
  std::vector<std::string> known{std::istream_iterator<std::string>(other_names), {}};
  for (const auto& [name, value] : usual.items()) known.push_back(name);
  std::ranges::sort(known);
  for (const auto& [name, value] : config.members().items()) {
    if (name.starts_with("_") || std::ranges::find(known, name) != known.end()) continue;
    const auto distance = [&name = name](const std::string& other) { return edit_distance(name, other); };
    const std::string nearest = *std::ranges::min_element(known, {}, distance);
    config.refuse(name, "transformers has no such setting; " + (distance(nearest) <= suggestion_distance(name)
                                                                    ? "did you mean " + nearest + "?"
                                                                    : std::string("remove it to search without it")));
  }
}

/// The token limit of a translation. transformers counts the begin token and a forced end token; its default max_length is
/// 20.
inline Index marian_limit(const HubConfig& generation, Index positions) {
  const bool told = !generation.find("max_length").is_null();
  const Index steps = generation.whole(
      "max_new_tokens", 1, std::min(generation.whole("max_length", 2, 21), told ? Index{1} << 31 : positions) - 1);
  return std::max<Index>(generation.find("forced_eos_token_id").is_null() ? steps : steps - 1, 0);
}

/// The search settings of transformers' generate(); empty for plain greedy decoding.
inline std::optional<SearchOptions> marian_search(const HubConfig& config, Index limit) {
  SearchOptions search{.beam = config.whole("num_beams", 1, 1)};
  const auto early = config.find("early_stopping");
  if (!early.is_null() && !early.is_boolean() && early != "never")
    config.refuse("early_stopping", "it must be true, false or \"never\"");
  if (search.beam > 1)
    search.stop = early == "never" ? Stop::no_better : early == true ? Stop::complete : Stop::no_better_now;
  search.score = {ScoreKind::length, config.number("length_penalty", 1)};
  search.free_end = !config.find("forced_eos_token_id").is_null();
  search.no_repeat = config.whole("no_repeat_ngram_size", 0, 0);
  search.min_length = std::min(std::max(config.whole("min_length", 0, 0) - 1, config.whole("min_new_tokens", 0, 0)), limit);
  search.renormalize = config.flag("renormalize_logits", false);
  if (search.beam == 1 && search.no_repeat == 0 && search.min_length == 0) return {};
  return search;
}

/// Tokens that no translation may contain.
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
      config.refuse("bad_words_ids", "each list must contain exactly one token: attn cannot forbid sequences");
    add("bad_words_ids", word[0]);
  }
  if (!tokens.is_null() && !tokens.is_array()) config.refuse("suppress_tokens", "it must be a list of tokens");
  for (const auto& token : tokens) add("suppress_tokens", token);
  return never;
}

}  // namespace detail

/// Reads everything but the weights; rejects other model types.
inline RunConfig read_marian_folder(const std::filesystem::path& folder) {
  const HubConfig config(folder / "config.json");
  if (config.find("model_type") != "marian")
    config.refuse("model_type", "attn reads only MarianMTModel folders (\"model_type\": \"marian\")");
  const auto weights = folder / "model.safetensors";
  require(file_exists(weights), "there is no model.safetensors in ", folder.string(),
          file_exists(folder / "pytorch_model.bin")
              ? ". attn does not read pickle files (pytorch_model.bin). Convert it with save_pretrained: "
                "MarianMTModel.from_pretrained(folder).save_pretrained(folder)"
              : ". The folder is incomplete.");
  const bool shared = config.flag("share_encoder_decoder_embeddings", true);
  const ModelPreset preset = detail::marian_model(config);

  const SafetensorsFile file(weights);
  const auto rows_of = [&](std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (const TensorView* table = file.find(name); table != nullptr) {
        require(table->shape.size() == 2, weights.string(), ": tensor '", name, "' has ", table->shape.size(),
                " dimensions; an embedding table has 2");
        return table->shape[0];
      }
    fail(weights.string(), ": the embedding table '", *names.begin(), "' is missing");
  };
  ModelSpec model{.name = preset.architecture, .share_embeddings = shared, .shape = preset.shape};
  model.target_vocabulary = shared ? rows_of({"model.shared.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"})
                                   : rows_of({"model.decoder.embed_tokens.weight", "lm_head.weight"});
  model.source_vocabulary = shared ? model.target_vocabulary : rows_of({"model.encoder.embed_tokens.weight"});
  model.tie_output = config.flag("tie_word_embeddings", true);

  const auto vocabulary = folder / "vocab.json", other = folder / "target_vocab.json";
  const bool separate = !shared && file_exists(other);
  const MarianTokenizer source = detail::read_marian_tokenizer(folder / "source.spm", vocabulary);
  const MarianTokenizer target = detail::read_marian_tokenizer(folder / "target.spm", separate ? other : vocabulary);
  require(source.size() <= model.source_vocabulary && target.size() <= model.target_vocabulary, folder.string(),
          ": the vocabularies have ", source.size(), " and ", target.size(), " tokens, the model's tables ",
          model.source_vocabulary, " and ", model.target_vocabulary, "; the files belong to different models");

  const auto how = folder / "generation_config.json";
  const bool has_own = file_exists(how);
  const HubConfig generation = has_own ? HubConfig(how) : config;
  for (const HubConfig* one : {&config, &generation}) {
    one->check_token("eos_token_id", target.end());
    one->check_token("forced_eos_token_id", target.end());
    one->check_token("pad_token_id", target.pad());
    one->check_token("decoder_start_token_id", target.begin());
  }
  detail::check_generation(generation, has_own);
  RunConfig run{.model = std::move(model), .source = source, .target = target};
  const Index positions = config.whole("max_position_embeddings", 1, 512);
  run.truncate = std::max<Index>(positions - 1, 1);
  run.limit = detail::marian_limit(generation, positions);
  run.search = detail::marian_search(generation, run.limit);
  run.never = detail::marian_never(generation, run.model.target_vocabulary);
  run.never.insert(run.never.begin(), target.pad());
  return run;
}

/// The config of a run's folder or of a MarianMTModel folder.
inline RunConfig read_folder_config(const std::filesystem::path& folder) {
  return is_hub_folder(folder) ? read_marian_folder(folder) : read_run_config(folder);
}

}  // namespace attn
