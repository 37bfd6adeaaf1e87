#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "attn/core/error.hpp"
#include "attn/core/file.hpp"

namespace attn {

/// Keeps a folder for one run: while it lives, a second one, of this process or another, is refused with the name of the
/// first. The system releases it when the process dies, however it dies; FOLDER/.lock stays. A process that dies holds it
/// until its memory is cleared away, which may outlast the mpirun that killed it: two seconds are waited for that.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder) : file_(folder / ".lock", O_RDWR | O_CREAT) {
    for (int pauses = 100; ::flock(file_.handle(), LOCK_EX | LOCK_NB) != 0; --pauses) {
      file_.check(errno == EWOULDBLOCK, "cannot lock ");
      if (pauses == 0) refuse(folder);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    char host[256] = "an unknown host";
    ::gethostname(host, sizeof host - 1);
    const std::string owner = "process " + std::to_string(::getpid()) + " on " + host;
    file_.check(::ftruncate(file_.handle(), 0) == 0, "cannot write ");
    file_.write(owner.data(), static_cast<Index>(owner.size()));
  }
  ~FolderLock() {
    [[maybe_unused]] const int ignored = ::ftruncate(file_.handle(), 0);  // nobody's
  }

 private:
  [[noreturn]] static void refuse(const std::filesystem::path& folder) {
    const std::string owner = read_file(folder / ".lock");
    fail(folder.string(), " is in use: ", owner.empty() ? "another process" : owner,
         " writes to it; wait until it has ended, or choose another folder");
  }
  OpenFile file_;
};

}  // namespace attn
