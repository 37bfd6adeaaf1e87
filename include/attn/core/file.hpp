#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// An open file, closed when it goes; every failure is an Error with the file's name, or another that is given for it, and the
/// system's reason.
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

  /// An Error with errno's reason unless ok: check(::fstat(...) == 0, "cannot read ").
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

  /// Returns when everything is on the disk; some file systems report a failed write only here.
  void sync() { check(::fsync(handle_) == 0, "cannot write "); }

 private:
  std::filesystem::path name_;
  int handle_;
};

/// Replaces a file whole or not at all: `write(OpenFile&)` fills `path`.partial, which takes the name when it is on the
/// disk. A failure leaves what was there, and what a killed process left of `path`.partial is overwritten by the next.
/// Writers of one file take turns: each locks the partial file it writes to. Errors speak of `path`.
template <class Write>
void replace_file(const std::filesystem::path& path, Write&& write) {
  std::error_code unknown;
  require(!std::filesystem::is_other(path, unknown), "cannot write ", path.string(),
          ": it is a device or a pipe, which a file would replace; name a file");
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  require(std::filesystem::exists(folder, unknown) || unknown, "cannot write ", path.string(), ": the folder ",
          folder.string(), " does not exist: make it");
  const std::filesystem::path partial = path.string() + ".partial";
  while (true) {
    OpenFile file(partial, O_WRONLY | O_CREAT, path, "cannot write ");
    while (::flock(file.handle(), LOCK_EX) != 0 && errno == EINTR) {
    }  // a file system without locks: no turns are taken
    struct stat ours {
    }, named{};
    const bool same = ::fstat(file.handle(), &ours) == 0 && ::stat(partial.c_str(), &named) == 0 &&
                      ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
    if (!same) continue;  // while this one waited, another writer finished with it
    try {
      if (S_ISREG(ours.st_mode)) file.check(::ftruncate(file.handle(), 0) == 0, "cannot write ");
      write(file);
      file.sync();
      std::error_code error;
      std::filesystem::rename(partial, path, error);
      require(!error, "cannot write ", path.string(), ": ", error.message());
    } catch (const Error& error) {
      ::unlink(partial.c_str());  // a full disk gets its space back
      std::error_code ignored;
      const bool kept = std::filesystem::is_regular_file(path, ignored);
      fail(error.what(), kept ? "; " + path.string() + " is kept as it was" : "");
    } catch (...) {
      ::unlink(partial.c_str());
      throw;
    }
    break;
  }
  // The new name survives a power cut once the folder is on the disk too. Not every file system can say so: no error then.
  if (const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); handle >= 0) {
    ::fsync(handle);
    ::close(handle);
  }
}

/// Replaces a file by these bytes.
inline void write_file(const std::filesystem::path& path, std::string_view contents) {
  replace_file(path, [&](OpenFile& file) { file.write(contents.data(), static_cast<Index>(contents.size())); });
}

/// Replaces a file by these lines.
inline void write_lines(const std::filesystem::path& path, std::span<const std::string> lines) {
  std::string text;
  for (const std::string& line : lines) text.append(line) += '\n';
  write_file(path, text);
}

/// All bytes of a file.
inline std::string read_file(const std::filesystem::path& path) {
  std::error_code ignored;
  require(!std::filesystem::is_directory(path, ignored), "cannot read ", path.string(),
          ": it is a folder; name a file inside it");
  const OpenFile file(path, O_RDONLY);
  std::string contents;
  while (true) {
    char block[1 << 16];
    const auto count = ::read(file.handle(), block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    file.check(count >= 0, "cannot read ");
    if (count == 0) return contents;
    contents.append(block, static_cast<std::size_t>(count));
  }
}

/// Makes the folder, and those above it.
inline void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  require(!error, "cannot make the folder ", folder.string(), ": ", error.message(), "; choose another");
}

}  // namespace attn
