#pragma once
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>

#include "support/errors.hpp"

/// An empty folder that is removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    static std::atomic<int> number = 0;
    path_ = std::filesystem::temp_directory_path() / ("attn_" + std::to_string(getpid()) + "_" + std::to_string(number++));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Whether a folder of the optional test data exists. Prints a message if not.
inline bool has_data(const std::string& folder) {
  const bool there = std::filesystem::exists(std::filesystem::path(ATTN_TEST_DATA) / folder);
  if (!there) MESSAGE("skipped: no ", folder, " under ", ATTN_TEST_DATA);
  return there;
}
