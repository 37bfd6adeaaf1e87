#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "attn/run/run_folder.hpp"

namespace attn {

// A folder in the layout of Hugging Face's MarianMTModel, such as those of OPUS-MT.
//
//   config.json                     model_type marian, the shape, special tokens
//   model.safetensors               the weights
//   source.spm, target.spm          SentencePiece models of the languages
//   vocab.json, target_vocab.json   ids of their pieces; one file where both languages share theirs
//   generation_config.json          how to search; or config.json says it, or nothing does

/// What such a folder says.
struct MarianFolder {
  RunCard card;
  std::vector<Token> never;  // padding, and other tokens that no translation holds
};

/// Whether a folder is Hugging Face's, of this model or another, and no training's.
inline bool is_hub_folder(const std::filesystem::path& folder) {
  return !has_run(folder) && std::filesystem::is_regular_file(folder / "config.json");
}

/// Reads everything but the weights; a folder of another model is refused by its name.
MarianFolder read_marian_folder(const std::filesystem::path& folder);

}  // namespace attn

#ifndef ATTN_COMPILED  // else attn::compiled has the bodies
#include "attn/run/marian_folder_bodies.hpp"
#endif
