#pragma once
#include <atomic>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "attn/core/file.hpp"
#include "attn/train/safetensors.hpp"

// What trainings share that write to a folder, may be stopped, and go on.

/// Makes the folder, and those above it. `option` is what named it.
inline void make_folder(const std::filesystem::path& folder, const char* option = "--output") {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  attn::require(!error, "cannot make the folder ", folder.string(), ": ", error.message(), "; choose another with ",
                option);
}

/// One line each.
inline void write_lines(const std::filesystem::path& path, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  attn::write_file(path, text);
}

/// Refuses to resume a run with a setting that was another when it began.
inline void check_same(const attn::SafetensorsFile& file, const attn::Metadata& now) {
  for (const auto& [key, value] : now) {
    const auto was = file.metadata().find(key);
    if (key == "attn.version" || key == "epochs" || was == file.metadata().end()) continue;
    attn::require(was->second == value, "cannot resume ", file.path().string(), ": it was made with ", key, " ",
                  was->second, ", not ", value, "; give the options of the run that was stopped");
  }
}

/// Whether Ctrl-C was pressed, after stop_on_interrupt().
inline std::atomic<bool> interrupted = false;
inline void stop_on_interrupt() {
  std::signal(SIGINT, [](int) { interrupted = true; });
}
