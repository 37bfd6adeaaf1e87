#pragma once
#include "attn/checkpoint/tensor_view.hpp"
#include "attn/decode/search_options.hpp"
#include "attn/run/model_spec.hpp"
#include "attn/text/any_tokenizer.hpp"

namespace attn {

/// The contents of model.json.
struct RunConfig {
  ModelSpec model;
  AnyTokenizer source, target;
  std::string source_language = "", target_language = "";
  Index truncate = 255;                      // maximum source tokens in training
  Index limit = 256;                         // maximum tokens of a translation
  bool suppress_unknown = false;             // translations never contain the unknown token
  std::vector<Token> never = {};             // further suppressed tokens, from a Hugging Face folder
  std::optional<SearchOptions> search = {};  // search settings from a Hugging Face folder; default: greedy decoding
  Metadata settings = {};                    // training settings
  std::uint64_t seed = 1;
  std::string commit = "unknown";                   // of attn
  nlohmann::json shape = {};                        // shape of the model, for readers
  std::string device = {};                          // device used for training
  nlohmann::json about = nlohmann::json::object();  // any further entries of the program
};

}  // namespace attn
