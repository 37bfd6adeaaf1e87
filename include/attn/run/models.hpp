#pragma once
// Defines models(), gpu_support(), open_translator() and open_ensemble(), with the library's models on the CPU, unless
// attn::compiled does. It then instantiates all of these models.
#ifdef ATTN_COMPILED
#include "attn/run/model_registry.hpp"
#else
#include "attn/run/cpu_models.hpp"
#include "attn/run/library_models.hpp"
#include "attn/run/open_folder.hpp"
#include "attn/run/open_translator.hpp"

namespace attn {

inline ModelRegistry& models() {
  static ModelRegistry registry = [] {
    ModelRegistry all;
    add_library_models<Cpu<float>>(all);
    return all;
  }();
  return registry;
}

inline GpuSupport gpu_support() { return {}; }

inline FolderTranslator open_translator(const std::filesystem::path& folder, const DeviceOptions& device) {
  return detail::open_folder(folder, device);
}

inline FolderTranslator open_ensemble(const std::vector<std::filesystem::path>& folders, const DeviceOptions& device) {
  return detail::open_folders(folders, device);
}

}  // namespace attn
#endif
