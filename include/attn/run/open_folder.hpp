#pragma once
#include <future>

#include "attn/checkpoint/marian.hpp"
#include "attn/decode/ensemble.hpp"
#include "attn/run/folder_translator.hpp"
#include "attn/run/marian_folder.hpp"
#include "attn/run/model_registry.hpp"

// What open_translator and open_ensemble do (run/open_translator.hpp). A program that links attn::compiled does not compile it.

namespace attn::detail {

/// Opens and checks a weight file while the caller reads tokenizers and starts the device.
inline std::future<SafetensorsFile> open_weights(const std::filesystem::path& path) {
  return std::async(std::launch::async, [path] { return SafetensorsFile(path); });
}

inline FolderTranslator open_folder(const std::filesystem::path& folder, const DeviceOptions& device) {
  const auto weights = folder / "model.safetensors";
  auto file = open_weights(weights);
  RunConfig config = read_folder_config(folder);
  require(file_exists(weights), "there is no model.safetensors in ", folder.string(),
          ": the training has not validated yet. Wait for its first validation.");
  std::shared_ptr<AnyModel> model = models().make(config.model, device);
  const SafetensorsFile opened = file.get();
  model->load(opened, is_hub_folder(folder) ? marian_layout(opened, config.model.shape->width) : LoadOptions{});
  return FolderTranslator(std::move(config), std::move(model));
}

inline FolderTranslator open_folders(const std::vector<std::filesystem::path>& folders, const DeviceOptions& device) {
  require(!folders.empty(), "open_ensemble: pass at least one folder");
  FolderTranslator first = open_folder(folders[0], device);
  std::vector<std::shared_ptr<AnyModel>> models{first.shared_model()};
  for (const auto& folder : std::span(folders).subspan(1)) {
    const FolderTranslator one = open_folder(folder, device);
    require(one.config().source.hash() == first.config().source.hash() &&
                one.config().target.hash() == first.config().target.hash(),
            "the model in ", folder.string(), " has other tokenizers than that in ", folders[0].string(),
            "; the models of an ensemble share theirs");
    models.push_back(one.shared_model());
  }
  if (models.size() == 1) return first;
  std::vector<SearchEngine*> members;
  for (const auto& model : models) members.push_back(&model->engine());
  return FolderTranslator(first.config(), std::move(models), std::make_shared<EnsembleEngine>(std::move(members)));
}

}  // namespace attn::detail
