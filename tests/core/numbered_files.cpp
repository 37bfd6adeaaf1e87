#include "attn/core/file.hpp"

#include <doctest/doctest.h>

#include "support/files.hpp"

using namespace attn;

TEST_CASE("numbered files: a numbered name has a prefix and a suffix around a number") {
  CHECK(is_numbered("12.svg", "", ".svg"));
  CHECK(is_numbered("events.12.attn", "events.", ".attn"));
  CHECK(is_numbered("0012.svg", "", ".svg", 4));
  CHECK(is_numbered("10000.svg", "", ".svg", 4));
  for (const char* other : {"mine.svg", "12a.svg", "-1.svg", ".svg", "12.png", "12", ""})
    CHECK_FALSE(is_numbered(other, "", ".svg"));
  CHECK_FALSE(is_numbered("012.svg", "", ".svg", 4));
  CHECK_FALSE(is_numbered("events.attn", "events.", ".attn"));  // the words share a point
}

TEST_CASE("numbered files: removes only its own files and then an empty folder") {
  const TemporaryFolder folder;
  const auto one = folder / "one";
  const auto is_ours = [](std::string_view name) { return is_numbered(name, "", ".svg"); };
  std::filesystem::create_directories(one / "3.svg");
  for (const char* name : {"1.svg", "2.svg", "mine.svg"}) write_file(one / name, "");
  remove_files(one, is_ours);
  CHECK_FALSE((std::filesystem::exists(one / "1.svg") || std::filesystem::exists(one / "2.svg")));
  CHECK((std::filesystem::exists(one / "mine.svg") && std::filesystem::exists(one / "3.svg")));  // a folder is no file
  remove_if_empty(one);
  CHECK(std::filesystem::exists(one));
  for (const char* name : {"mine.svg", "3.svg"}) std::filesystem::remove(one / name);
  remove_if_empty(one);
  CHECK_FALSE(std::filesystem::exists(one));
  remove_files(one, is_ours);  // there is none
  remove_if_empty(one);
}
