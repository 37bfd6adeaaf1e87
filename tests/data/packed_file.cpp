#include "attn/data/line_reader.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "attn/core/file.hpp"
#include "attn/data/packed_file.hpp"
#include "attn/data/pair_reader.hpp"
#include "attn/data/parallel_text.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

void pack(const std::string& program, const std::filesystem::path& file) {
  REQUIRE(std::system((program + " -f \"" + file.string() + "\"").c_str()) == 0);
}

void read_pairs(const PairFiles& files, UnequalLines unequal = UnequalLines::refuse) {
  PairReader reader(files, unequal);
  for (std::string source, target; reader.next(source, target);) continue;
}

}  // namespace

TEST_CASE("packed files: plain and .xz and .gz files are read under either name") {
  const TemporaryFolder folder;
  const std::vector<std::string> lines{"eins", "zwei", "drei"};
  for (const auto& [program, ending] : {std::pair("", ""), {"xz", ".xz"}, {"gzip", ".gz"}}) {
    CAPTURE(ending);
    const auto plain = folder / (std::string("it's a text") + program);
    write_file(plain, "eins\nzwei\ndrei\n");
    if (*program != '\0') pack(program, plain);
    for (const std::filesystem::path& path : {plain, std::filesystem::path(plain.string() + ending)}) {
      PackedFile file(path);
      CHECK(read_lines(file.path()) == lines);
      file.close();
    }
  }
}

TEST_CASE("packed files: truncated and missing files are errors") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += std::to_string(i * 7919) + "\n";
  write_file(folder / "a", text);
  pack("xz", folder / "a");
  const std::string packed = read_file(folder / "a.xz");
  write_file(folder / "a.xz", packed.substr(0, packed.size() / 2));
  const auto refusal = [&] {
    PackedFile file(folder / "a.xz");
    read_lines(file.path());
    return error_of([&] { file.close(); });
  };
  CHECK(contains(refusal(), "cannot unpack"));
  write_file(folder / "b", text);
  for (const auto& [source, target] : {std::pair(folder / "a.xz", folder / "b"), {folder / "b", folder / "a.xz"}}) {
    CHECK(contains(error_of([&] { read_parallel(source, target); }), "cannot unpack"));
    for (const UnequalLines unequal : {UnequalLines::refuse, UnequalLines::drop})
      CHECK(contains(error_of([&] { read_pairs({PairFormat::lines, source, target}, unequal); }), "cannot unpack"));
  }
  for (const auto& [format, row] : {std::pair(PairFormat::tsv, "one\ttwo\n"), {PairFormat::csv, "\"one\",\"two\"\n"}}) {
    std::string rows;
    for (int i = 0; i < 1000; ++i) rows += row;
    for (const std::size_t rest : {0, 1, 2, 3, 4}) {
      CAPTURE(rest);
      std::string start = rows;
      start.resize(rows.size() - rest);
      write_file(folder / "rows", start);
      pack("gzip", folder / "rows");
      const std::string packed_rows = read_file(folder / "rows.gz");
      write_file(folder / "rows.gz", packed_rows.substr(0, packed_rows.size() - 8));  // without checksum and size
      CHECK(contains(error_of([&] { read_pairs({format, folder / "rows.gz"}); }), "cannot unpack"));
    }
  }
  write_file(folder / "a.xz", packed);
  for (const std::size_t nuls : {4, 7, 1 << 20}) {  // the format allows padding by multiples of four
    CAPTURE(nuls);
    std::filesystem::resize_file(folder / "a.xz", packed.size() + nuls);
    CHECK(contains(refusal(), "cannot unpack") == (nuls % 4 != 0));
    CHECK(read_lines(PackedFile(folder / "a.xz").path()).size() == 10'000);
  }
  CHECK(contains(error_of([&] { read_lines(PackedFile(folder / "none").path()); }), "cannot read"));
}
