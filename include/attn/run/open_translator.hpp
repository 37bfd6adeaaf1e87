#pragma once
#include "attn/run/device_options.hpp"
#include "attn/run/folder_translator.hpp"

namespace attn {

/// Opens a run's folder with any registered model, on any available device. Also opens OPUS-MT models in Hugging Face's
/// layout (run/marian_folder.hpp), with the search settings of their generation_config.json.
FolderTranslator open_translator(const std::filesystem::path& folder, const DeviceOptions& device = {});

/// Opens several folders with equal tokenizers as an ensemble that averages their probabilities.
FolderTranslator open_ensemble(const std::vector<std::filesystem::path>& folders, const DeviceOptions& device = {});

}  // namespace attn

#include "attn/run/models.hpp"
