#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// An open file; the destructor closes it. Every failure throws an Error with the system's reason and the file's name, or
/// the `name` given instead.
class OpenFile {
 public:
  OpenFile(const std::filesystem::path& path, int flags) : OpenFile(path, flags, path, "cannot open ") {}
  OpenFile(const std::filesystem::path& path, int flags, std::filesystem::path name, const char* what)
      : name_(std::move(name)), handle_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    check(handle_ >= 0, what);
  }
  OpenFile(const OpenFile&) = delete;
  ~OpenFile() {
    if (handle_ >= 0) ::close(handle_);
  }

  int handle() const { return handle_; }

  /// Throws an Error with errno's reason if `ok` is false: check(::fstat(...) == 0, "cannot read ").
  void check(bool ok, const char* what) const {
    const int reason = errno;
    require(ok, what, name_.string(), ": ", std::strerror(reason));
  }

  void write(const void* bytes, Index count) {
    for (auto* next = static_cast<const char*>(bytes); count > 0;) {
      const auto written = ::write(handle_, next, static_cast<std::size_t>(count));
      if (written < 0 && errno == EINTR) continue;
      check(written >= 0, "cannot write ");
      next += written;
      count -= written;
    }
  }

  /// Flushes the file to disk. Some file systems report a failed write only here.
  void sync() { check(::fsync(handle_) == 0, "cannot write "); }

 private:
  std::filesystem::path name_;
  int handle_;
};

/// Replaces a file atomically: `write(OpenFile&)` fills `path`.partial, which is renamed to `path` once it is on disk. A
/// failure keeps the old file. The next writer overwrites a `path`.partial left by a killed process. Concurrent writers
/// lock the partial file and take turns. Errors name `path`.
void replace_file(const std::filesystem::path& path, auto&& write) {
  std::error_code unknown;
  require(!std::filesystem::is_other(path, unknown), "cannot write ", path.string(),
          ": it is a device or a pipe. Name a file.");
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  require(std::filesystem::exists(folder, unknown) || unknown, "cannot write ", path.string(), ": the folder ",
          folder.string(), " does not exist. Create it.");
  const std::filesystem::path partial = path.string() + ".partial";
  while (true) {
    OpenFile file(partial, O_WRONLY | O_CREAT, path, "cannot write ");
    while (::flock(file.handle(), LOCK_EX) != 0 && errno == EINTR) {
    }  // without file locks, writers do not take turns
    struct stat ours {
    }, named{};
    const bool same = ::fstat(file.handle(), &ours) == 0 && ::stat(partial.c_str(), &named) == 0 &&
                      ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
    if (!same) continue;  // another writer renamed or removed it during the wait
    try {
      if (S_ISREG(ours.st_mode)) file.check(::ftruncate(file.handle(), 0) == 0, "cannot write ");
      write(file);
      file.sync();
      std::error_code error;
      std::filesystem::rename(partial, path, error);
      require(!error, "cannot write ", path.string(), ": ", error.message());
    } catch (const Error& error) {
      ::unlink(partial.c_str());  // frees the space on a full disk
      std::error_code ignored;
      const bool kept = std::filesystem::is_regular_file(path, ignored);
      fail(error.what(), kept ? "; " + path.string() + " is kept as it was" : "");
    } catch (...) {
      ::unlink(partial.c_str());
      throw;
    }
    break;
  }
  // Sync the folder, so that the rename survives a power failure. Ignore errors: not every file system supports this.
  if (const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); handle >= 0) {
    ::fsync(handle);
    ::close(handle);
  }
}

inline void write_file(const std::filesystem::path& path, std::string_view contents) {
  replace_file(path, [&](OpenFile& file) { file.write(contents.data(), static_cast<Index>(contents.size())); });
}

inline void write_lines(const std::filesystem::path& path, std::span<const std::string> lines) {
  std::string text;
  for (const std::string& line : lines) text.append(line) += '\n';
  write_file(path, text);
}

/// The type of a file, not_found if it does not exist. Throws an Error if the system cannot tell, as for a loop of symbolic
/// links.
inline std::filesystem::file_type file_type(const std::filesystem::path& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  require(type != std::filesystem::file_type::none, "cannot open ", path.string(), ": ", error.message());
  return type;
}
inline bool file_exists(const std::filesystem::path& path) {
  return file_type(path) != std::filesystem::file_type::not_found;
}
inline bool is_folder(const std::filesystem::path& path) {
  return file_type(path) == std::filesystem::file_type::directory;
}
inline bool is_file(const std::filesystem::path& path) { return file_type(path) == std::filesystem::file_type::regular; }

/// All bytes of a file. Rejects files above 1 GiB: no file that attn reads whole is that large.
inline std::string read_file(const std::filesystem::path& path) {
  std::error_code ignored;
  require(!std::filesystem::is_directory(path, ignored), "cannot read ", path.string(),
          ": it is a folder. Name a file inside it.");
  constexpr const char* too_large = ": it is larger than 1 GiB. It is damaged, or the wrong file.";
  const OpenFile file(path, O_RDONLY);
  struct stat about {};
  require(::fstat(file.handle(), &about) != 0 || about.st_size <= Index{1} << 30, "cannot read ", path.string(), too_large);
  std::string contents;
  while (true) {
    char block[1 << 16];
    const auto count = ::read(file.handle(), block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    file.check(count >= 0, "cannot read ");
    if (count == 0) return contents;
    require(contents.size() < std::size_t{1} << 30, "cannot read ", path.string(), too_large);
    contents.append(block, static_cast<std::size_t>(count));
  }
}

/// The same for text. Rejects NUL bytes at the end: a full disk or a broken copy pads files with them.
inline std::string read_text_file(const std::filesystem::path& path) {
  std::string text = read_file(path);
  require(!text.ends_with('\0'), path.string(), " is damaged: it has only NUL bytes from byte ",
          text.find_last_not_of('\0') + 2, " on; copy it again");
  return text;
}

/// Maps a file into memory, read-only, and sets its size. The pages belong to the page cache, so it takes no memory from
/// other programs. Null for an empty file.
inline std::shared_ptr<const char> map_file(const std::filesystem::path& path, std::size_t& size) {
  const OpenFile file(path, O_RDONLY);
  struct stat about {};
  file.check(::fstat(file.handle(), &about) == 0, "cannot read ");
  require(S_ISREG(about.st_mode), "cannot read ", path.string(), ": it is not a file");
  size = static_cast<std::size_t>(about.st_size);
  if (size == 0) return nullptr;
  void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.handle(), 0);
  file.check(start != MAP_FAILED, "cannot map ");
  return {static_cast<const char*>(start), [length = size](const char* at) { ::munmap(const_cast<char*>(at), length); }};
}

inline void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  require(!error, "cannot create the folder ", folder.string(), ": ", error.message(), ". Choose another.");
}

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
