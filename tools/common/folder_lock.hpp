#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include "attn/core/error.hpp"
#include "attn/core/file.hpp"

namespace attn {

/// Creates a folder and locks it for one run. A second lock, in this process or another, fails with the name of the owner.
/// The system releases the lock when the process dies. A killed process can hold it until its memory is freed, so locking
/// retries for two seconds. The destructor removes .lock if the folder has no other files, and the folder too if it was
/// created here.
class FolderLock {
 public:
  explicit FolderLock(std::filesystem::path folder) : folder_(std::move(folder)), made_(!file_exists(folder_)) {
    make_folder(folder_);
    while (!take()) continue;
    char host[256] = "an unknown host";
    ::gethostname(host, sizeof host - 1);
    const std::string owner = "process " + std::to_string(::getpid()) + " on " + host;
    file_->check(::ftruncate(file_->handle(), 0) == 0, "cannot write ");
    file_->write(owner.data(), static_cast<Index>(owner.size()));
  }
  FolderLock(const FolderLock&) = delete;
  ~FolderLock() {
    [[maybe_unused]] const int ignored = ::ftruncate(file_->handle(), 0);  // clear the owner
    std::error_code error;
    std::filesystem::directory_iterator files(folder_, error);
    for (; !error && files != std::filesystem::directory_iterator(); files.increment(error))
      if (files->path().filename() != ".lock") return;
    std::filesystem::remove(folder_ / ".lock", error);
    if (made_) std::filesystem::remove(folder_, error);
  }

 private:
  /// Locks the file; false if another process removed it meanwhile.
  bool take() {
    file_.emplace(folder_ / ".lock", O_RDWR | O_CREAT);
    for (int pauses = 100; ::flock(file_->handle(), LOCK_EX | LOCK_NB) != 0; --pauses) {
      file_->check(errno == EWOULDBLOCK, "cannot lock ");
      if (pauses == 0) refuse(folder_);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    struct stat ours {
    }, named{};
    return ::fstat(file_->handle(), &ours) == 0 && ::stat((folder_ / ".lock").c_str(), &named) == 0 &&
           ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
  }
  [[noreturn]] static void refuse(const std::filesystem::path& folder) {
    const std::string owner = read_file(folder / ".lock");
    fail(folder.string(), " is in use: ", owner.empty() ? "another process" : owner,
         " writes to it. Wait until it has ended, or choose another folder.");
  }
  std::filesystem::path folder_;
  bool made_;
  std::optional<OpenFile> file_;
};

}  // namespace attn
