#include "attn/text/byte_bpe.hpp"

#include <thread>

#include "attn/text/byte_bpe_files.hpp"
#include "support/files.hpp"
#include "text/small_bpe.hpp"

using namespace attn;
using Ids = std::vector<Token>;
using Pieces = std::vector<std::string>;

TEST_CASE("byte bpe: merges within words and never across them") {
  const ByteBpe bpe = small_bpe({{"l", "o"}, {"lo", "w"}, {"e", "r"}, {"\u0120", "low"}});
  CHECK(pieces(bpe, "low lower slow") == Pieces{"low", "\u0120low", "er", "\u0120", "s", "low"});
  CHECK(pieces(bpe, "l ow") == Pieces{"l", "\u0120", "o", "w"});
  CHECK(pieces(bpe, "").empty());
  CHECK(pieces(bpe, "\u00E4") == Pieces{"\u00C3", "\u00A4"});
}

TEST_CASE("byte bpe: a token that no merge produces is unused") {
  // "abc" is a token by (ab, c), but in "abc" the merge (b, c) goes first.
  const ByteBpe bpe = small_bpe({{"b", "c"}, {"a", "b"}, {"ab", "c"}});
  CHECK(pieces(bpe, "abc") == Pieces{"a", "bc"});
}

TEST_CASE("byte bpe: has the configured special tokens") {
  const ByteBpe bpe = small_bpe({});
  CHECK(bpe.begin() == 0);
  CHECK(bpe.pad() == 1);
  CHECK(bpe.end() == 2);
  CHECK(bpe.unknown() == 3);
  CHECK(bpe.mask() == 260);
  CHECK(bpe.is_special(260));
  CHECK_FALSE(bpe.is_special(4));
  CHECK(bpe.size() == 261);
  CHECK(bpe.padded_size() == 264);

  const auto token = [](char byte) { return static_cast<Token>(4 + byte); };
  CHECK(bpe.encode("<s>") == Ids{token('<'), token('s'), token('>')});
  CHECK(bpe.encode_with_specials("<s>a<mask></s> <s") == Ids{0, token('a'), 260, 2, token(' '), token('<'), token('s')});
  CHECK(bpe.encode_with_specials("<<pad><unk") == Ids{token('<'), 1, token('<'), token('u'), token('n'), token('k')});
  CHECK(bpe.encode_with_specials("").empty());
  CHECK(bpe.decode(Ids{0, token('h'), 1, 3, token('i'), 260, 2}) == "hi");
}

TEST_CASE("byte bpe: GPT-2's single special token fills all roles") {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.push_back(byte_alphabet::written(std::string(1, static_cast<char>(byte))));
  tokens.push_back("<|endoftext|>");
  const ByteBpe bpe(tokens, {});
  CHECK(bpe.begin() == 256);
  CHECK(bpe.end() == 256);
  CHECK_FALSE(bpe.mask().has_value());
  CHECK(bpe.encode_with_specials("a<|endoftext|>") == Ids{'a', 256});
  CHECK(bpe.padded_size() == 264);
}

TEST_CASE("byte bpe: any UTF-8 survives a round trip") {
  const ByteBpe bpe = small_bpe({{"\u0120", "t"}, {"\u0120t", "h"}, {"\u00C3", "\u00A4"}, {"\u0120", "\u0120"}});
  std::string all;
  for (char32_t code = 0; code < 0x110000; code += code < 0x3000 ? 1 : 97)
    if (code < 0xD800 || code > 0xDFFF) utf8::append(all, code);
  for (const std::string& text : {std::string(), std::string("\0\0", 2), std::string(" the  the\n\n\tthe "),
                                  std::string("\u00E4e\u0301\u200D\u202E"), all})
    CHECK(bpe.decode(bpe.encode(text)) == text);
}

TEST_CASE("byte bpe: token names mark word starts and show incomplete characters as bytes") {
  const ByteBpe bpe = small_bpe({{"a", "a"}, {"aa", "b"}, {"\u0120", "aab"}});
  const auto names = [&](std::string_view line) {
    std::string all;
    for (const Token token : bpe.encode(line)) all += (all.empty() ? "" : "|") + bpe.name(token);
    return all;
  };
  CHECK(names("aab aab") == "\u00b7aab|aab");
  CHECK(names("aab.") == "\u00b7aab|.");  // a dot beside a full stop would read as a colon
  CHECK(names("a ") == "\u00b7a|\u2423");
  CHECK(names("\u4f60") == "<e4>|<bd>|<a0>");
  CHECK(bpe.name(bpe.end()) == "</s>");
}

TEST_CASE("byte bpe: the appending overload appends") {
  const ByteBpe bpe = small_bpe({});
  Ids ids{7};
  bpe.encode("a", ids);
  bpe.encode("b", ids);
  CHECK(ids == Ids{7, 4 + 'a', 4 + 'b'});
}

TEST_CASE("byte bpe: ids of incomplete characters decode to the replacement character") {
  const ByteBpe bpe = small_bpe({});
  CHECK(bpe.decode(Ids{4 + 0xC3}) == "\uFFFD");
  CHECK(bpe.decode(Ids{4 + 0xC3, 4 + 0xA4}) == "\u00E4");
  CHECK(bpe.decode(Ids{4 + 0xC3, 2, 4 + 0xA4}) == "\u00E4");  // special tokens between them do not count
  CHECK(bpe.decode(Ids{}) == "");
}

TEST_CASE("byte bpe: rejects invalid text and ids") {
  const ByteBpe bpe = small_bpe({});
  CHECK(contains(error_of([&] { bpe.encode("ab\xFF"); }), "byte 2 of the text (value 255) is not valid UTF-8"));
  CHECK(contains(error_of([&] { bpe.encode_with_specials("<s>\xED\xA0\x80"); }), "byte 3 of the text"));
  CHECK(contains(error_of([&] { bpe.decode(Ids{-1}); }), "no token has the id -1: the vocabulary has 261"));
  CHECK(contains(error_of([&] { bpe.decode(Ids{264}); }), "no token has the id 264"));
  CHECK(bpe.decode(Ids{261, 263}) == "");  // the rows that round a model's tables up
}

TEST_CASE("byte bpe: rejects invalid vocabularies") {
  const ByteBpe good = small_bpe({{"a", "b"}});
  auto tokens = good.tokens();
  CHECK(contains(error_of([&] { ByteBpe({}, {}); }), "has no token <s>"));
  CHECK(contains(error_of([&] { ByteBpe({"<s>", "<pad>", "</s>", "<unk>"}, {}); }), "no token for byte 0"));
  CHECK(contains(error_of([&] {
                   ByteBpe(tokens, {{300, 1, 2}});
                 }),
                 "a merge has the id 300, but the vocabulary has 262 tokens"));
  CHECK(contains(error_of([&] {
                   ByteBpe(tokens, {{4 + 'b', 4 + 'a', 260}});
                 }),
                 "a merge of 'b' and 'a' has the wrong result 'ab'"));
  CHECK(contains(error_of([&] { ByteBpe(tokens, {good.merges()[0], good.merges()[0]}); }), "duplicate merge"));
  tokens[3] = "<mask>";
  CHECK(contains(error_of([&] { ByteBpe(tokens, {}); }), "duplicate token '<mask>' in the vocabulary"));
}

TEST_CASE("byte bpe: the hash depends on tokens and order and merges and is stable") {
  const ByteBpe bpe = small_bpe({{"a", "b"}, {"b", "c"}});
  CHECK(bpe.hash() == small_bpe({{"a", "b"}, {"b", "c"}}).hash());
  CHECK(bpe.hash() != small_bpe({{"b", "c"}, {"a", "b"}}).hash());
  CHECK(bpe.hash() != small_bpe({{"a", "b"}}).hash());
  auto tokens = bpe.tokens();
  auto fewer = bpe.merges();
  fewer.pop_back();
  CHECK(bpe.hash() != ByteBpe(tokens, fewer).hash());
  CHECK(ByteBpe(bpe).hash() == bpe.hash());
  CHECK(small_bpe({}).hash() == 11241577867107872804ULL);
}

TEST_CASE("byte bpe: copied and moved tokenizers still encode") {
  ByteBpe first = small_bpe({{"a", "b"}});
  const ByteBpe copy = first;
  const ByteBpe moved = std::move(first);
  CHECK(copy.encode("ab") == Ids{260});
  CHECK(moved.encode("ab") == Ids{260});
}

TEST_CASE("byte bpe: can be shared between threads") {
  const ByteBpe bpe = small_bpe({{"a", "b"}, {"ab", "ab"}});
  const std::string text = "ab abab ba abababab \u00E4";
  const Ids expected = bpe.encode(text);
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  for (int& mistakes : wrong)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) mistakes += bpe.encode(text) != expected;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

TEST_CASE("byte bpe: encodes known sentences with BART's vocabulary") {
  if (!has_data("bart-bpe")) return;
  const std::filesystem::path folder = std::filesystem::path(ATTN_TEST_DATA) / "bart-bpe";
  const ByteBpe bpe = load_byte_bpe(folder / "vocab.json", folder / "merges.txt");
  CHECK(bpe.size() == 50265);
  CHECK(bpe.padded_size() == 50272);
  CHECK(bpe.begin() == 0);
  CHECK(bpe.pad() == 1);
  CHECK(bpe.end() == 2);
  CHECK(bpe.unknown() == 3);
  CHECK(bpe.mask() == 50264);
  CHECK(bpe.encode("Hello world!") == Ids{31414, 232, 328});
  CHECK(bpe.encode("Stra\u00DFenbahnhaltestelle, don't  you\n\n think?") ==
        Ids{41695, 7804, 225, 428, 8891, 298, 3967, 990, 6591, 6, 218, 75, 1437, 47, 50140, 206, 116});
  CHECK(bpe.hash() == 11466827393158229868ULL);
}
