#pragma once
#include <cstdio>

#include "attn/core/file.hpp"

namespace attn {

/// A plain or compressed input file. The xz and gzip programs decompress .xz and .gz files into a pipe. If a plain file
/// does not exist, it looks for one with .xz or .gz appended.
class PackedFile {
 public:
  explicit PackedFile(const std::filesystem::path& file) : path_(file) {
    for (const char* ending : {".xz", ".gz"}) {
      if (file.extension() == ending) packed_ = file.string();
      if (!file_exists(file) && file_exists(file.string() + ending)) packed_ = file.string() + ending;
    }
    if (packed_.empty()) return;  // the reader reports a missing file
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

  /// Call after reading. Throws unless the file can be decompressed to its end.
  void close() {
    if (pipe_ == nullptr) return;
    std::array<char, 1 << 16> rest;
    while (std::fread(rest.data(), 1, rest.size(), pipe_) > 0) continue;
    require(::pclose(std::exchange(pipe_, nullptr)) == 0, "cannot unpack ", packed_,
            "; check that the file is complete and the program is installed, or unpack it first");
  }

 private:
  std::filesystem::path path_;
  std::string packed_;
  std::FILE* pipe_ = nullptr;
};

}  // namespace attn
