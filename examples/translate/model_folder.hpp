#pragma once
#include <filesystem>
#include <string>

#include "text_side.hpp"

/// What a training left in its folder, and what it takes to translate with it.
struct ModelFolder {
  std::filesystem::path weights;  // model.safetensors
  std::string model, size;        // its name (support/model_names.hpp); of a Transformer, small or base
  TextSide source, target;        //
  attn::Index truncate;           // tokens of a source sentence that are read
  attn::Index limit;              // tokens of a translation
  attn::Token never = -1;         // a word that no translation holds, or none
  bool shared = false;            // one table for both languages
};

/// Finds out which program wrote the folder, wmt14_train or europarl_train, and reads all but the weights.
ModelFolder open_model_folder(const std::filesystem::path& folder);
