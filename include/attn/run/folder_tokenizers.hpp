#pragma once
#include "attn/run/marian_folder.hpp"

namespace attn {

/// The tokenizers of a run's folder or of a Hugging Face MarianMTModel folder.
struct FolderTokenizers {
  AnyTokenizer source, target;
};
inline FolderTokenizers read_folder_tokenizers(const std::filesystem::path& folder) {
  RunConfig config = is_hub_folder(folder) ? read_marian_folder(folder) : read_run_config(folder);
  return {std::move(config.source), std::move(config.target)};
}

}  // namespace attn
