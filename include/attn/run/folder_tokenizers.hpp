#pragma once
#include <filesystem>
#include <utility>

#include "attn/run/marian_folder.hpp"
#include "attn/run/run_folder.hpp"

namespace attn {

/// The tokenizers of a model's folder, which a training left or Hugging Face's MarianMTModel.
struct FolderTokenizers {
  AnyTokenizer source, target;
};
inline FolderTokenizers read_folder_tokenizers(const std::filesystem::path& folder) {
  RunCard card = is_hub_folder(folder) ? read_marian_folder(folder).card : read_run_card(folder);
  return {std::move(card.source), std::move(card.target)};
}

}  // namespace attn
