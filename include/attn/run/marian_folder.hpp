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

/// The part of config.json that a model's type fixes.
struct MarianShape {
  int encoder_layers, decoder_layers, width, heads, inner;
  std::string activation;  // swish, relu or gelu
};

/// What a Marian of a shape is called among models(): marian-6-6-512-8-2048-swish.
inline std::string marian_name(const MarianShape& shape) {
  std::string name = "marian";
  for (const int size : {shape.encoder_layers, shape.decoder_layers, shape.width, shape.heads, shape.inner})
    name += '-' + std::to_string(size);
  return name + '-' + shape.activation;
}

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
