#include "attn/run/open_translator.hpp"

#include "attn/run/open_folder.hpp"

namespace attn {

template std::vector<Translation> translate_lines(const std::vector<std::string>&, const AnyTokenizer&, const AnyTokenizer&,
                                                  const TranslatorOptions&, SearchEngine&);

FolderTranslator open_translator(const std::filesystem::path& folder, const DeviceOptions& device) {
  return detail::open_folder(folder, device);
}

FolderTranslator open_ensemble(const std::vector<std::filesystem::path>& folders, const DeviceOptions& device) {
  return detail::open_folders(folders, device);
}

}  // namespace attn
