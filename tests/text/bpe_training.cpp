#include "attn/text/bpe_training.hpp"

#include <map>

#include "attn/core/random.hpp"
#include "attn/text/byte_bpe_files.hpp"
#include "support/files.hpp"
#include "text/small_bpe.hpp"

using namespace attn;

namespace {

ByteBpe trained(const std::vector<std::string>& lines, Index size) {
  BpeTrainer trainer;
  for (const std::string& line : lines) trainer.add(line);
  return trainer.train(size);
}

/// The definition: count all pairs of all words anew for every merge.
std::vector<Merge> learned_slowly(const std::vector<std::string>& lines, const ByteBpe& bytes_only, Index merges) {
  std::vector<std::vector<Token>> words;
  for (const std::string& line : lines)
    for_each_word(line, [&](std::string_view word) { words.push_back(bytes_only.encode(word)); });
  std::vector<Merge> learned;
  for (Token result = 260; result < 260 + merges; ++result) {
    std::map<std::pair<Token, Token>, Index> counts;
    for (const auto& word : words)
      for (std::size_t i = 1; i < word.size(); ++i) ++counts[{word[i - 1], word[i]}];
    std::pair<Token, Token> best;
    Index most = 1;
    for (const auto& [pair, count] : counts)
      if (count > most) best = pair, most = count;  // the map is in the order of ids
    if (most < 2) break;
    learned.push_back({best.first, best.second, result});
    for (auto& word : words) {
      std::vector<Token> merged;
      for (std::size_t i = 0; i < word.size(); ++i) {
        const bool here = i + 1 < word.size() && word[i] == best.first && word[i + 1] == best.second;
        merged.push_back(here ? result : word[i]);
        i += here;
      }
      word = merged;
    }
  }
  return learned;
}

}  // namespace

TEST_CASE("bpe training: merges the most frequent pair first") {
  const ByteBpe bpe = trained(
      {"low low low low low", "lower lower", "newest newest newest newest newest newest", "widest widest widest"}, 266);
  CHECK(bpe.size() == 266);
  CHECK(bpe.begin() == 0);
  CHECK(bpe.pad() == 1);
  CHECK(bpe.end() == 2);
  CHECK(bpe.unknown() == 3);
  CHECK_FALSE(bpe.mask().has_value());
  CHECK(bpe.tokens()[4] == "!");
  CHECK(bpe.tokens()[259] == "\u0143");
  // (e, s) 9 before (s, t) 9; (es, t) 9; (l, o) 7 before (o, w) 7; (lo, w) 7; (e, w) 6; (n, ew) 6 before (ew, est) 6
  const std::vector<std::string> learned(bpe.tokens().begin() + 260, bpe.tokens().end());
  CHECK(learned == std::vector<std::string>{"es", "est", "lo", "low", "ew", "new"});
}

TEST_CASE("bpe training: equals recounting all pairs for every merge") {
  Random random(7);
  for (int round = 0; round < 30; ++round) {
    std::vector<std::string> lines;
    for (int i = 0; i < 40; ++i) {
      std::string line;
      for (Index length = random.below(40); length > 0; --length) line += "aab \u00E4"[random.below(4)];
      lines.push_back(line);
    }
    const ByteBpe bytes = trained({}, 260);
    const ByteBpe bpe = trained(lines, 320);
    REQUIRE(bpe.merges() == learned_slowly(lines, bytes, 60));
  }
}

TEST_CASE("bpe training: encoding a training word gives the pieces of training") {
  const std::vector<std::string> lines(3,
                                       "the theatre thaws; there, the \u00E4therische \u00C4ther 's 's aaaaaaa aaaa aaa");
  const ByteBpe bpe = trained(lines, 400);
  for (const Token id : bpe.encode(" theatre")) CHECK(id >= 260);
  CHECK(bpe.encode("the").size() == 1);
  CHECK(bpe.decode(bpe.encode(lines[0])) == lines[0]);
}

TEST_CASE("bpe training: merges do not depend on the order of lines") {
  std::vector<std::string> lines;
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    std::string line;
    for (int letter = 0; letter < 30; ++letter)
      line += static_cast<char>(random.below(6) == 0 ? ' ' : 'a' + random.below(8));
    lines.push_back(line);
  }
  const auto hash = trained(lines, 500).hash();
  CHECK(trained(lines, 500).hash() == hash);
  random.shuffle(lines);
  CHECK(trained(lines, 500).hash() == hash);
  CHECK(trained(lines, 499).hash() != hash);
}

TEST_CASE("bpe training: too little text gives a smaller vocabulary") {
  CHECK(trained({}, 300).size() == 260);
  CHECK(trained({"", " ", "a"}, 300).size() == 260);
  CHECK(trained({"abc"}, 300).size() == 260);  // no pair occurs twice
  CHECK(trained({"abc", "abc"}, 300).size() == 262);
  CHECK(trained({"abc", "abc"}, 260).size() == 260);
}

TEST_CASE("bpe training: rejects too small vocabularies and invalid text") {
  CHECK(contains(error_of([] { trained({"a"}, 259); }),
                 "a vocabulary of 259 is too small: special tokens and bytes alone are 260"));
  CHECK(contains(error_of([] { trained({"a"}, -1); }), "too small"));
  CHECK(contains(error_of([] { trained({"a\xC3"}, 300); }), "byte 1 of the text"));
}

TEST_CASE("bpe training: names of special tokens in the text are plain text") {
  const ByteBpe bpe = trained(std::vector<std::string>(10, "<s></s><unk><pad>"), 300);
  CHECK(bpe.decode(bpe.encode("<s></s>")) == "<s></s>");
}

TEST_CASE("bpe training: can be saved and loaded") {
  const TemporaryFolder folder;
  const ByteBpe bpe =
      trained(std::vector<std::string>(4, "Gr\u00FC\u00DFe aus K\u00F6ln \"quoted\" back\\slash \t tab"), 290);
  save_byte_bpe(bpe, folder / "vocab.json", folder / "merges.txt");
  CHECK(load_byte_bpe(folder / "vocab.json", folder / "merges.txt").hash() == bpe.hash());
}
