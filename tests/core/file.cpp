#include "attn/core/file.hpp"

#include "support/files.hpp"

using namespace attn;
namespace fs = std::filesystem;

TEST_CASE("file: what is written can be read, byte for byte") {
  const TemporaryFolder folder;
  const std::string bytes("a\r\n\0\xFF\n", 6);
  for (const std::string& contents : {std::string(), bytes, std::string(1 << 20, 'x')}) {
    write_file(folder / "file", contents);
    CHECK(read_file(folder / "file") == contents);
  }
  CHECK_FALSE(fs::exists(folder / "file.partial"));
}

TEST_CASE("file: missing files and folders are refused by name") {
  const TemporaryFolder folder;
  CHECK(contains(error_of([&] { read_file(folder / "none.txt"); }), "none.txt: No such file"));
  CHECK(contains(error_of([&] { read_file(folder / ""); }), "it is a folder"));
  CHECK(contains(error_of([&] { write_file(folder / "no/where.txt", "x"); }), "where.txt.partial: No such file"));
  fs::create_directories(folder / "taken/inside");
  CHECK(contains(error_of([&] { write_file(folder / "taken", "x"); }), "cannot rename"));
  CHECK_FALSE(fs::exists(folder / "taken.partial"));
}

TEST_CASE("file: a full disk is noticed and the old file kept") {
  if (!fs::exists("/dev/full")) {
    MESSAGE("skipped: this system has no /dev/full");
    return;
  }
  const TemporaryFolder folder;
  write_file(folder / "file", "old");
  fs::create_symlink("/dev/full", folder / "file.partial");
  for (const std::size_t size : {std::size_t{3}, std::size_t{1} << 20}) {
    if (!fs::exists(folder / "file.partial")) fs::create_symlink("/dev/full", folder / "file.partial");
    CHECK(contains(error_of([&] { write_file(folder / "file", std::string(size, 'n')); }), "No space left"));
    CHECK(read_file(folder / "file") == "old");
    CHECK_FALSE(fs::exists(folder / "file.partial"));
  }
}
