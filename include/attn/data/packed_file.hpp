#pragma once
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include "attn/core/error.hpp"

namespace attn {

/// A file to read, plain or compressed: .xz and .gz are unpacked into a pipe, by the programs of these names, while they are
/// read. A plain file that is there only with .xz or .gz after its name is found too.
class PackedFile {
 public:
  explicit PackedFile(const std::filesystem::path& file) : path_(file) {
    for (const char* ending : {".xz", ".gz"}) {
      if (file.extension() == ending) packed_ = file.string();
      if (!std::filesystem::exists(file) && std::filesystem::exists(file.string() + ending))
        packed_ = file.string() + ending;
    }
    if (packed_.empty()) return;  // whoever reads it says what is missing
    std::string quoted;
    for (const char c : packed_) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    pipe_ = ::popen(((packed_.ends_with(".xz") ? "xz -dc -- '" : "gzip -dc -- '") + quoted + "'").c_str(), "r");
    require(pipe_ != nullptr, "cannot start xz or gzip to unpack ", packed_);
    path_ = "/dev/fd/" + std::to_string(::fileno(pipe_));
  }
  PackedFile(const PackedFile&) = delete;
  ~PackedFile() {
    if (pipe_ != nullptr) ::pclose(pipe_);
  }

  std::filesystem::path path() const { return path_; }
  bool packed() const { return !packed_.empty(); }

  /// When all of it has been read: an Error unless it was unpacked to its end.
  void close() {
    if (pipe_ != nullptr)
      require(::pclose(std::exchange(pipe_, nullptr)) == 0, "cannot unpack ", packed_,
              "; is it whole, and is the program installed? A file that was unpacked before is read as it is");
  }

 private:
  std::filesystem::path path_;
  std::string packed_;
  std::FILE* pipe_ = nullptr;
};

}  // namespace attn
