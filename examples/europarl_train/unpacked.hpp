#pragma once
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include "attn/core/error.hpp"

/// A file to read, which may be there as file.xz only: then the program xz unpacks it into a pipe while it is read.
class Unpacked {
 public:
  explicit Unpacked(const std::filesystem::path& file) : path_(file) {
    packed_ = file.string() + ".xz";
    if (std::filesystem::exists(file) || !std::filesystem::exists(packed_))
      return;  // whoever reads it says what is missing
    std::string quoted;
    for (const char c : packed_) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    pipe_ = ::popen(("xz -dc -- '" + quoted + "'").c_str(), "r");
    attn::require(pipe_ != nullptr, "cannot start xz to unpack ", packed_);
    path_ = "/dev/fd/" + std::to_string(::fileno(pipe_));
  }
  Unpacked(const Unpacked&) = delete;
  ~Unpacked() {
    if (pipe_ != nullptr) ::pclose(pipe_);
  }

  std::filesystem::path path() const { return path_; }

  /// When all of it has been read: an Error unless it was unpacked to its end.
  void close() {
    if (pipe_ != nullptr)
      attn::require(::pclose(std::exchange(pipe_, nullptr)) == 0, "cannot unpack ", packed_,
                    "; is the program xz installed? A file that was unpacked before (xz -d) is read as it is");
  }

 private:
  std::filesystem::path path_;
  std::string packed_;
  std::FILE* pipe_ = nullptr;
};
