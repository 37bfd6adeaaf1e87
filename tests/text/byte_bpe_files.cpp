#include "attn/text/byte_bpe_files.hpp"

#include "support/files.hpp"
#include "text/small_bpe.hpp"

using namespace attn;
namespace fs = std::filesystem;

namespace {

/// The two files of a small tokenizer, to be damaged.
struct Files {
  TemporaryFolder folder;
  fs::path vocab = folder / "vocab.json", merges = folder / "merges.txt";

  Files() { save_byte_bpe(small_bpe({{"a", "b"}, {"\u0120", "ab"}, {"\"", "\\"}}), vocab, merges); }
  std::string error() const {
    return error_of([this] { load_byte_bpe(vocab, merges); });
  }
  std::string error_with_vocab(const std::string& contents) const {
    write_file(vocab, contents);
    return error();
  }
  std::string error_with_merges(const std::string& contents) const {
    write_file(merges, contents);
    return error();
  }
  std::string replaced(const std::string& from, const std::string& to) const {
    std::string contents = read_file(vocab);
    const auto at = contents.find(from);
    REQUIRE(at != contents.npos);
    return contents.replace(at, from.size(), to);
  }
};

}  // namespace

TEST_CASE("byte bpe files: saving and loading gives the same tokenizer") {
  const Files files;
  const ByteBpe saved = small_bpe({{"a", "b"}, {"\u0120", "ab"}, {"\"", "\\"}});
  const ByteBpe loaded = load_byte_bpe(files.vocab, files.merges);
  CHECK(loaded.hash() == saved.hash());
  CHECK(loaded.tokens() == saved.tokens());
  CHECK(loaded.merges() == saved.merges());
  CHECK(read_file(files.merges) == "#version: 0.2\na b\n\u0120 ab\n\" \\\n");
  CHECK(loaded.encode("ab ab\"\\") == std::vector<Token>{260, 261, 262});
}

TEST_CASE("byte bpe files: accept Windows line endings and a missing last line end or version line") {
  const Files files;
  const auto hash = load_byte_bpe(files.vocab, files.merges).hash();
  CHECK(files.error_with_merges("#version: 0.2\r\na b\r\n\u0120 ab\r\n\" \\\r\n") == "");
  CHECK(load_byte_bpe(files.vocab, files.merges).hash() == hash);
  CHECK(files.error_with_merges("a b\n\u0120 ab\n\" \\") == "");
  CHECK(load_byte_bpe(files.vocab, files.merges).hash() == hash);
  CHECK(files.error_with_merges("") == "");
  CHECK(load_byte_bpe(files.vocab, files.merges).hash() != hash);
}

TEST_CASE("byte bpe files: BART's files are rewritten byte for byte") {
  if (!has_data("bart-bpe")) return;
  const fs::path original = fs::path(ATTN_TEST_DATA) / "bart-bpe";
  const TemporaryFolder folder;
  const ByteBpe bpe = load_byte_bpe(original / "vocab.json", original / "merges.txt");
  save_byte_bpe(bpe, folder / "vocab.json", folder / "merges.txt");
  CHECK(read_file(folder / "vocab.json") == read_file(original / "vocab.json"));
  CHECK(read_file(folder / "merges.txt") == read_file(original / "merges.txt"));
}

TEST_CASE("byte bpe files: missing files") {
  const Files files;
  CHECK(contains(error_of([&] { load_byte_bpe(files.folder / "other.json", files.merges); }), "other.json: No such file"));
  CHECK(contains(error_of([&] { load_byte_bpe(files.vocab, files.folder / "other.txt"); }), "other.txt: No such file"));
  CHECK(contains(error_of([&] { load_byte_bpe(files.folder / "", files.merges); }), "it is a folder"));
}

TEST_CASE("byte bpe files: reject an invalid vocabulary") {
  const Files files;
  const std::string good = read_file(files.vocab);
  CHECK(contains(files.error_with_vocab(good.substr(0, 500)), "vocab.json: not valid JSON from byte 50"));
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{7}, good.size() - 1}) {
    CAPTURE(length);
    CHECK(contains(files.error_with_vocab(good.substr(0, length)), "vocab.json: not valid JSON from byte"));
  }
  CHECK(contains(files.error_with_vocab(good + "}"), "not valid JSON"));
  const std::string deep = "{\"a\": " + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
  CHECK(contains(files.error_with_vocab(deep), "vocab.json: nests lists too deep"));
  CHECK(contains(files.error_with_vocab("{\"\xFF\": 0}"), "not valid JSON"));
  CHECK(contains(files.error_with_vocab("[1, 2]"), "must be a JSON object of token: id"));
  CHECK(contains(files.error_with_vocab("7"), "must be a JSON object"));
  CHECK(contains(files.error_with_vocab("{}"), "merges.txt, line 2: 'a' is not in the vocabulary"));
  write_file(files.merges, "");
  CHECK(contains(files.error(), "vocab.json: byte-level BPE: the vocabulary has no token <s>"));
}

TEST_CASE("byte bpe files: ids must be 0 to n - 1 once each") {
  const Files files;
  const auto with_id = [&](const std::string& id) { return files.replaced("\"<unk>\": 3", "\"<unk>\": " + id); };
  for (const std::string id : {"264", "265", "-1", "3.5", "\"3\"", "null", "[3]", "{\"x\": 3}", "18446744073709551615"}) {
    CAPTURE(id);
    const Files fresh;
    const std::string error = fresh.error_with_vocab(with_id(id));
    CHECK(contains(error, "vocab.json: the token '<unk>' has the id"));
    CHECK(contains(error, "from 0 to 263, each once"));
  }
  CHECK(contains(Files().error_with_vocab(with_id("1e999")), "vocab.json: "));
  CHECK(contains(Files().error_with_vocab(with_id("4")), "have the same id 4"));
  CHECK(contains(Files().error_with_vocab(files.replaced("\"<unk>\": 3", "\"<pad>\": 3")), "duplicate token \"<pad>\""));
}

TEST_CASE("byte bpe files: the vocabulary needs all special tokens and bytes") {
  CHECK(contains(Files().error_with_vocab(Files().replaced("<unk>", "<huh>")),
                 "vocab.json: byte-level BPE: the vocabulary has no token <unk>"));
  CHECK(contains(Files().error_with_vocab(Files().replaced("\"!\"", "\"!!\"")), "no token for byte 33"));
}

TEST_CASE("byte bpe files: errors give the number of an invalid merge line") {
  const Files files;
  for (const std::string line : {"ab", "a b c", "", " a b", "a b ", "a  b", " ", "a\tb", "#comment"}) {
    CAPTURE(line);
    CHECK(contains(files.error_with_merges("#version: 0.2\na b\n" + line + "\n\u0120 ab\n"),
                   "merges.txt, line 3: '" + line + "' is not two tokens"));
  }
  CHECK(contains(files.error_with_merges("a b\nx \xFF\n"), "merges.txt, line 2"));
  CHECK(contains(files.error_with_merges("a b\n" + std::string(9, '\0')), "merges.txt is damaged: it has only NUL bytes"));
  CHECK(contains(files.error_with_merges("a b\n\u0120 ab\na b\n"), "merges.txt, line 3: repeats the merge of line 1"));
  CHECK(contains(files.error_with_merges("a b\nzz ab\n"), "merges.txt, line 2: 'zz' is not in the vocabulary"));
  CHECK(contains(files.error_with_merges("a b\na zz\n"), "merges.txt, line 2: 'zz' is not in the vocabulary"));
  CHECK(contains(files.error_with_merges("a b\nb a\n"), "merges.txt, line 2: 'ba' is not in the vocabulary"));
}

TEST_CASE("byte bpe files: saving to an invalid place is an error") {
  const Files files;
  const ByteBpe bpe = small_bpe({});
  CHECK(contains(error_of([&] { save_byte_bpe(bpe, files.folder / "no/vocab.json", files.merges); }),
                 "no does not exist. Create it."));
  CHECK(contains(error_of([&] { save_byte_bpe(bpe, files.vocab, files.folder / "no/merges.txt"); }),
                 "no does not exist. Create it."));
}
