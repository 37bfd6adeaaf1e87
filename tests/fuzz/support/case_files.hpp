#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

// A fuzz case as the files that it stands for.

namespace fuzz {

inline std::string_view text_of(const std::uint8_t* bytes, std::size_t count) {
  return {reinterpret_cast<const char*>(bytes), count};
}

/// The `count` files of a case, which lines of the word `---` part; those that are missing are empty.
inline std::vector<std::string_view> files_of(std::string_view text, std::size_t count) {
  constexpr std::string_view line = "\n---\n";
  std::vector<std::string_view> files;
  while (files.size() + 1 < count) {
    const std::size_t at = text.find(line);
    files.push_back(text.substr(0, at));
    text.remove_prefix(at == text.npos ? text.size() : at + line.size());
  }
  files.push_back(text);
  return files;
}

/// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : handle_(::memfd_create("case", MFD_CLOEXEC)) {
    if (handle_ < 0 || ::write(handle_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
  }
  MemoryFile(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(handle_); }

  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(handle_); }

 private:
  int handle_;
};

/// A folder of this process, for readers that want names; in memory where the system has /dev/shm.
class CaseFolder {
 public:
  CaseFolder() {
    const std::filesystem::path memory = "/dev/shm";
    const auto parent = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
    path_ = parent / ("attn-fuzz-" + std::to_string(::getpid()));
    std::filesystem::create_directories(path_);
  }
  CaseFolder(const CaseFolder&) = delete;
  ~CaseFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace fuzz
