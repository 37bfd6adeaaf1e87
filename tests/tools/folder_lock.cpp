#include "common/folder_lock.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <thread>

#include "support/files.hpp"

using namespace attn;

namespace {

/// A process that holds the folder until it is told to end.
class Holder {
 public:
  explicit Holder(const std::filesystem::path& folder) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    process_ = ::fork();
    REQUIRE(process_ >= 0);
    if (process_ == 0) {
      const FolderLock lock(folder);
      if (::write(ends[1], "x", 1) != 1) ::_exit(1);
      while (true) ::pause();
    }
    char byte;
    REQUIRE(::read(ends[0], &byte, 1) == 1);
    ::close(ends[0]), ::close(ends[1]);
  }
  ~Holder() { kill(); }
  void kill() {
    if (process_ > 0) ::kill(process_, SIGKILL), ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  pid_t process() const { return process_; }

 private:
  pid_t process_;
};

}  // namespace

TEST_CASE("folder lock: a second run is told which process holds the folder") {
  const TemporaryFolder folder;
  Holder holder(folder / "");
  const std::string sentence = error_of([&] { FolderLock lock(folder / ""); });
  char host[256] = "";
  REQUIRE(::gethostname(host, sizeof host - 1) == 0);
  CHECK(contains(sentence, "is in use: process " + std::to_string(holder.process()) + " on " + host + " writes to it"));
  CHECK(contains(sentence, "choose another folder"));
  holder.kill();
  CHECK(error_of([&] { FolderLock lock(folder / ""); }) == "");
}

TEST_CASE("folder lock: waits up to two seconds for the holder to exit") {
  const TemporaryFolder folder;
  Holder holder(folder / "");
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    holder.kill();
  });
  CHECK(error_of([&] { FolderLock lock(folder / ""); }) == "");
  killer.join();
}

TEST_CASE("folder lock: a process can lock a folder again only after releasing it") {
  const TemporaryFolder folder, other;
  std::optional<FolderLock> lock(std::in_place, folder / "");
  CHECK(contains(error_of([&] { FolderLock second(folder / ""); }), "process " + std::to_string(::getpid())));
  CHECK(read_file(folder / ".lock").starts_with("process " + std::to_string(::getpid()) + " on "));
  const FolderLock elsewhere(other / "");
  write_file(folder / "log.jsonl", "");
  lock.reset();
  CHECK(read_file(folder / ".lock") == "");
  CHECK(error_of([&] { FolderLock second(folder / ""); }) == "");
}

TEST_CASE("folder lock: creates the folder and removes it if it stays empty") {
  const TemporaryFolder folder;
  {
    const FolderLock lock(folder / "runs/new");
    CHECK(std::filesystem::exists(folder / "runs/new/.lock"));
  }
  CHECK_FALSE(std::filesystem::exists(folder / "runs/new"));
  CHECK(std::filesystem::exists(folder / "runs"));
  write_file(folder / "file", "");
  CHECK(contains(error_of([&] { FolderLock lock(folder / "file"); }),
                 "cannot create the folder " + (folder / "file").string()));
}

TEST_CASE("folder lock: a new holder ignores a lock file removed by the last one") {
  const TemporaryFolder folder;
  for (int i = 0; i < 4; ++i) {
    std::optional<FolderLock> first(std::in_place, folder / "");
    std::thread second([&] { const FolderLock lock(folder / ""); });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // it waits with the old file open
    first.reset();
    second.join();
  }
  CHECK_FALSE(std::filesystem::exists(folder / ".lock"));
}
