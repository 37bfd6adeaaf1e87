#include "attn/core/file.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <fstream>
#include <thread>
#include <vector>

#include "support/files.hpp"

using namespace attn;
namespace fs = std::filesystem;

TEST_CASE("file: reads back the exact bytes written") {
  const TemporaryFolder folder;
  const std::string bytes("a\r\n\0\xFF\n", 6);
  for (const std::string& contents : {std::string(), bytes, std::string(1 << 20, 'x')}) {
    write_file(folder / "file", contents);
    CHECK(read_file(folder / "file") == contents);
  }
  CHECK_FALSE(fs::exists(folder / "file.partial"));
}

TEST_CASE("file: writes a line feed after each line") {
  const TemporaryFolder folder;
  write_lines(folder / "file", std::vector<std::string>{"one", "", "two"});
  CHECK(read_file(folder / "file") == "one\n\ntwo\n");
  write_lines(folder / "file", {});
  CHECK(read_file(folder / "file").empty());
}

TEST_CASE("file: errors name missing files and folders") {
  const TemporaryFolder folder;
  CHECK(contains(error_of([&] { read_file(folder / "none.txt"); }), "none.txt: No such file"));
  CHECK(contains(error_of([&] { read_file(folder / ""); }), "it is a folder"));
  CHECK(contains(error_of([&] { write_file(folder / "no/where.txt", "x"); }),
                 "cannot write " + (folder / "no/where.txt").string() + ": the folder " + (folder / "no").string() +
                     " does not exist. Create it."));
  write_file(folder / "file", "x");
  CHECK(contains(error_of([&] { write_file(folder / "file/x", "x"); }), "file/x: Not a directory"));
  fs::create_directories(folder / "taken/inside");
  CHECK(contains(error_of([&] { write_file(folder / "taken", "x"); }),
                 "cannot write " + (folder / "taken").string() + ": Is a directory"));
  CHECK_FALSE(fs::exists(folder / "taken.partial"));
}

TEST_CASE("file: a file padded to more than 1 GiB is rejected before it is read") {
  const TemporaryFolder folder;
  write_file(folder / "file", "{}");
  fs::resize_file(folder / "file", std::uintmax_t{8} << 30);  // a hole, which takes no space
  CHECK(contains(error_of([&] { read_file(folder / "file"); }), "file: it is larger than 1 GiB. It is damaged"));
}

TEST_CASE("file: reports whether a file exists or why the system cannot tell") {
  const TemporaryFolder folder;
  CHECK(file_exists(folder / ""));
  CHECK_FALSE(file_exists(folder / "none"));
  CHECK(is_folder(folder.path()));
  CHECK_FALSE(is_file(folder.path()));
  CHECK_FALSE(is_folder(folder / "none"));
  CHECK_FALSE(is_file(folder / "none"));
  write_file(folder / "file", "");
  CHECK(is_file(folder / "file"));
  CHECK_FALSE(is_folder(folder / "file"));
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  for (const auto& question : {file_exists, is_folder, is_file})
    CHECK(contains(error_of([&] { question(folder / "a"); }),
                   "cannot open " + (folder / "a").string() + ": Too many levels of symbolic links"));
}

TEST_CASE("file: a text ending in NUL bytes is damaged") {
  const TemporaryFolder folder;
  for (const std::string& whole : {std::string("a\n"), std::string("a\0\n", 3), std::string()}) {
    write_file(folder / "file", whole);
    CHECK(read_text_file(folder / "file") == whole);
  }
  write_file(folder / "file", "a\n");
  fs::resize_file(folder / "file", 3);
  CHECK(contains(error_of([&] { read_text_file(folder / "file"); }),
                 "file is damaged: it has only NUL bytes from byte 3 on; copy it again"));
  write_file(folder / "file", std::string(1, '\0'));
  CHECK(contains(error_of([&] { read_text_file(folder / "file"); }), "from byte 1 on"));
}

TEST_CASE("file: a full disk is reported and the old file is kept") {
  if (!fs::exists("/dev/full")) {
    MESSAGE("skipped: this system has no /dev/full");
    return;
  }
  const TemporaryFolder folder;
  write_file(folder / "file", "old");
  for (const std::size_t size : {std::size_t{3}, std::size_t{1} << 20}) {
    fs::create_symlink("/dev/full", folder / "file.partial");
    const std::string sentence = error_of([&] { write_file(folder / "file", std::string(size, 'n')); });
    CHECK(contains(sentence, "cannot write " + (folder / "file").string() + ": No space left"));
    CHECK(contains(sentence, "; " + (folder / "file").string() + " is unchanged"));
    CHECK(read_file(folder / "file") == "old");
    CHECK_FALSE(fs::exists(folder / "file.partial"));
  }
}

TEST_CASE("file: reports a disk that fills up during a write") {
  const TemporaryFolder folder;
  write_file(folder / "file", "old");
  rlimit before;
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small{1 << 16, before.rlim_max};
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string sentence = error_of([&] { write_file(folder / "file", std::string(1 << 20, 'n')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  CHECK(contains(sentence, "cannot write " + (folder / "file").string() + ": File too large"));
  CHECK(contains(sentence, "is unchanged"));
  CHECK(read_file(folder / "file") == "old");
  CHECK_FALSE(fs::exists(folder / "file.partial"));
}

TEST_CASE("file: the leftovers of a killed writer are overwritten") {
  const TemporaryFolder folder;
  std::ofstream(folder / "file.partial") << std::string(1000, 'x');
  write_file(folder / "file", "new");
  CHECK(read_file(folder / "file") == "new");
  CHECK_FALSE(fs::exists(folder / "file.partial"));
}

TEST_CASE("file: concurrent writers of one file each write a complete file") {
  const TemporaryFolder folder;
  write_file(folder / "file", std::string(100'000, '0'));
  std::vector<std::thread> writers;
  for (char letter = 'a'; letter < 'e'; ++letter)
    writers.emplace_back([&, letter] {
      for (int i = 0; i < 20; ++i) write_file(folder / "file", std::string(100'000, letter));
    });
  for (int i = 0; i < 50; ++i) {
    const std::string found = read_file(folder / "file");
    CHECK(found == std::string(100'000, found[0]));
  }
  for (std::thread& writer : writers) writer.join();
  CHECK_FALSE(fs::exists(folder / "file.partial"));
}

TEST_CASE("file: never replaces a device") {
  CHECK_THROWS_WITH_AS(write_file("/dev/null", "text"), doctest::Contains("cannot write /dev/null: it is a device"), Error);
  CHECK(fs::is_character_file("/dev/null"));
  CHECK(!fs::exists("/dev/null.partial"));
}
