#include "attn/data/sharded_corpus.hpp"

#include <doctest/doctest.h>

#include <fstream>

#include "support/files.hpp"

using namespace attn;

namespace {

using Tokens = std::vector<Token>;

ShardHeader header(Index vocabulary) {
  ShardHeader header;
  header.number = 3;
  header.source_tokenizer = 11, header.target_tokenizer = 12;
  header.source_vocabulary = header.target_vocabulary = static_cast<std::uint64_t>(vocabulary);
  header.source.add(2);
  return header;
}

ShardPairs three_pairs(Token largest) {
  ShardPairs pairs;
  pairs.add(Tokens{5, largest}, Tokens{7, 8, 9});
  pairs.add(Tokens{}, Tokens{1});
  pairs.add(Tokens{4}, Tokens{});
  return pairs;
}

Tokens copy(std::span<const Token> tokens) { return {tokens.begin(), tokens.end()}; }

/// Changes bytes of a file in place.
void put(const std::filesystem::path& path, std::size_t at, const std::string& bytes) {
  std::string contents = read_file(path);
  contents.replace(at, bytes.size(), bytes);
  std::ofstream(path, std::ios::binary) << contents;
}

std::string number(std::uint32_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

}  // namespace

TEST_CASE("shard: uses 16-bit tokens if all ids fit and 32-bit tokens otherwise") {
  const TemporaryFolder folder;
  for (const auto& one : {std::pair(Index{65'536}, 2), {Index{65'537}, 4}}) {
    const auto vocabulary = one.first;
    const auto bytes = one.second;
    CAPTURE(vocabulary);
    const auto largest = static_cast<Token>(vocabulary - 1);
    const auto path = folder / (std::to_string(vocabulary) + ".shard");
    const ShardHeader written = write_shard(path, header(vocabulary), three_pairs(largest));
    CHECK(std::filesystem::file_size(path) == sizeof(ShardHeader) + 7 * 4 + 7u * static_cast<unsigned>(bytes));
    const Shard shard(path);
    CHECK(shard.header().token_bytes == static_cast<unsigned>(bytes));
    CHECK(shard.header().data_checksum == written.data_checksum);
    CHECK(shard.header().source_tokenizer == 11);
    CHECK(shard.header().source.longest() == 2);
    CHECK(shard.pairs() == 3);
    Tokens space;
    CHECK(copy(shard.tokens(0, keep_all_tokens, space)) == Tokens{5, largest});
    CHECK(copy(shard.tokens(1, keep_all_tokens, space)) == Tokens{7, 8, 9});
    CHECK(copy(shard.tokens(1, 2, space)) == Tokens{7, 8});
    CHECK(copy(shard.tokens(2, keep_all_tokens, space)) == Tokens{});
    CHECK(copy(shard.tokens(3, keep_all_tokens, space)) == Tokens{1});
    CHECK(copy(shard.tokens(5, keep_all_tokens, space)) == Tokens{});
    CHECK(shard.length(0) == 2);
    CHECK(shard.length(1) == 3);
    CHECK(shard.length(2) == 0);
    CHECK(shard.length(5) == 0);
    CHECK_NOTHROW(shard.verify());
  }
}

TEST_CASE("shard: may be empty") {
  const TemporaryFolder folder;
  write_shard(folder / "a.shard", header(10), {});
  CHECK(Shard(folder / "a.shard").pairs() == 0);
  CHECK_NOTHROW(Shard(folder / "a.shard").verify());
}

TEST_CASE("shard: rejects modified files") {
  const TemporaryFolder folder;
  const auto path = folder / "a.shard";
  const auto remade = [&] {
    std::filesystem::remove(path);
    write_shard(path, header(100), three_pairs(99));
  };
  const auto refusal = [&] { return error_of([&] { Shard shard(path); }); };
  const std::size_t size = sizeof(ShardHeader) + 7 * 4 + 7 * 2;

  CHECK(contains(error_of([&] { Shard shard(folder / "none.shard"); }), "none.shard: No such file or directory"));
  std::filesystem::create_directories(folder / "folder.shard");
  CHECK(contains(error_of([&] { Shard shard(folder / "folder.shard"); }), "it is not a file"));
  for (const std::size_t kept : {std::size_t{0}, std::size_t{20}, sizeof(ShardHeader), size - 1}) {
    remade();
    std::filesystem::resize_file(path, kept);
    CHECK(contains(refusal(), "a.shard is cut off: it has " + std::to_string(kept) + " of "));
    CHECK_FALSE(read_shard_header(path).has_value());
  }
  remade();
  CHECK(read_shard_header(path)->pairs == 3);
  for (const std::uintmax_t more : {std::uintmax_t{1}, std::uintmax_t{4} << 30}) {  // a hole takes no space
    std::filesystem::resize_file(path, size + more);
    CHECK(contains(refusal(), "is damaged"));
    CHECK_FALSE(read_shard_header(path).has_value());
  }
  std::filesystem::create_symlink("loop", folder / "loop");
  CHECK(contains(error_of([&] { read_shard_header(folder / "loop"); }), "loop: Too many levels of symbolic links"));
  remade();
  put(path, 0, "x");
  CHECK(contains(refusal(), "a.shard is not a shard of tokens"));
  remade();
  put(path, 8, number(2));
  CHECK(contains(refusal(), "a.shard has format 2, but this program reads format 1. Create the shards again"));
  remade();
  put(path, 24, number(1));  // pairs
  CHECK(contains(refusal(), "is damaged: its checksum does not match. Repeat the command that created it"));

  SUBCASE("impossible sizes with a valid checksum") {
    const auto claimed = [&](auto&& change) {
      remade();
      ShardHeader header = *read_shard_header(path);
      change(header);
      header.header_checksum = header.checksum();
      put(path, 0, std::string(reinterpret_cast<const char*>(&header), sizeof header));
      return refusal();
    };
    CHECK(contains(claimed([](ShardHeader& h) { h.token_bytes = 3; }), "is damaged"));
    CHECK(contains(claimed([](ShardHeader& h) { h.pairs = std::uint64_t{1} << 60; }), "is cut off"));
    CHECK(contains(claimed([](ShardHeader& h) { h.pairs += std::uint64_t{1} << 61; }), "is cut off"));  // the size wraps
    CHECK(contains(claimed([](ShardHeader& h) { h.tokens += std::uint64_t{1} << 63; }), "is cut off"));
  }
  SUBCASE("sentence offsets") {
    remade();
    put(path, sizeof(ShardHeader) + 4, number(1000));
    const Shard shard(path);
    CHECK(contains(error_of([&] { shard.length(0); }), "is damaged"));
    CHECK(contains(error_of([&] { shard.length(1); }), "is damaged"));
    CHECK(contains(error_of([&] { shard.verify(); }), "is damaged"));
  }
  SUBCASE("a token outside the vocabulary") {
    remade();
    put(path, sizeof(ShardHeader) + 7 * 4, std::string("\x64\x00", 2));  // 100 instead of 5
    const Shard shard(path);
    Tokens space;
    CHECK(contains(error_of([&] { shard.tokens(0, 10, space); }), "is damaged"));
    CHECK_NOTHROW(shard.tokens(1, 10, space));
  }
  SUBCASE("a wrong token inside the vocabulary is found only by a full read") {
    remade();
    put(path, sizeof(ShardHeader) + 7 * 4, std::string("\x06\x00", 2));
    CHECK(contains(error_of([&] { Shard(path).verify(); }), "is damaged"));
    CHECK(contains(error_of([&] { ShardedCorpus({path}).verify(); }), "a.shard is damaged"));
    CHECK_FALSE(read_shard_header(path).has_value());
  }
}
