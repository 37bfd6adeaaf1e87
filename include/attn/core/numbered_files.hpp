#pragma once
#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "attn/core/file.hpp"

namespace attn {

/// Whether a file name is `before`, digits, `after`: "12.safetensors" with "" and ".safetensors".
inline bool is_numbered(std::string_view name, std::string_view before, std::string_view after,
                        std::size_t least_digits = 1) {
  if (name.size() < before.size() + after.size() + least_digits) return false;
  if (!name.starts_with(before) || !name.ends_with(after)) return false;
  const auto digits = name.substr(before.size(), name.size() - before.size() - after.size());
  return std::ranges::all_of(digits, [](char c) { return '0' <= c && c <= '9'; });
}

/// Removes the files of a folder whose names satisfy is_ours. Keeps folders and other files.
void remove_files(const std::filesystem::path& folder, const auto& is_ours) {
  if (!is_folder(folder)) return;
  std::vector<std::filesystem::path> ours;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (!entry.is_directory() && is_ours(entry.path().filename().string())) ours.push_back(entry.path());
  for (const auto& path : ours) std::filesystem::remove(path);
}

/// Removes a folder if it is empty.
inline void remove_if_empty(const std::filesystem::path& folder) {
  if (is_folder(folder) && std::filesystem::is_empty(folder)) std::filesystem::remove(folder);
}

}  // namespace attn
