#include "attn/align/lexical_table.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "attn/align/lexical_table_file.hpp"
#include "attn/core/checksum.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

using Tokens = std::vector<Token>;

/// Two source words and the empty one: 0 -> 1 (0.2) 4 (0.5) 7 (0.2), 1 -> none, empty -> 4 (1).
LexicalTable small_table() { return {{0, 3, 3, 4}, {1, 4, 7, 4}, {0.2F, 0.5F, 0.2F, 1.0F}}; }

}  // namespace

TEST_CASE("lexical table: returns rows and probabilities and best translations") {
  const LexicalTable table = small_table();
  CHECK(table.source_words() == 2);
  CHECK(table.empty_word() == 2);
  CHECK(table.entries() == 4);
  CHECK(table.probability(0, 4) == 0.5);
  CHECK(table.probability(0, 5) == 0);
  CHECK(table.probability(1, 4) == 0);
  CHECK(table.probability(2, 4) == 1);
  CHECK(table.probability(3, 4) == 0);
  CHECK(table.probability(-1, 4) == 0);
  CHECK(table.best(0, 2) == Tokens{4, 1});  // of equals the lower id
  CHECK(table.best(0, 9) == Tokens{4, 1, 7});
  CHECK(table.best(0, 0).empty());
  CHECK(table.best(0, 1) == Tokens{4});
  CHECK(table.best(1, 1).empty());
  CHECK(table.best(99, 1).empty());
  CHECK(LexicalTable{}.source_words() == 0);
  CHECK(LexicalTable{}.probability(0, 0) == 0);
}

TEST_CASE("lexical table: pruning removes improbable entries") {
  const LexicalTable pruned = small_table().pruned(0.3);
  CHECK(pruned == LexicalTable({0, 1, 1, 2}, {4, 4}, {0.5F, 1.0F}));
  CHECK(small_table().pruned(0) == small_table());
  CHECK(small_table().pruned(2).entries() == 0);
}

TEST_CASE("lexical table: rejects invalid rows and probabilities") {
  CHECK(contains(error_of([] { LexicalTable({0, 2}, {1}, {0.5F}); }), "numbers of targets, 1, and of probabilities, 1"));
  CHECK(contains(error_of([] { LexicalTable({0, 2, 2}, {3, 1}, {0.5F, 0.5F}); }), "row 0 needs rising ids"));
  CHECK(contains(error_of([] { LexicalTable({0, 1, 1}, {3}, {1.5F}); }), "probabilities from 0 to 1"));
}

TEST_CASE("lexical table: a saved table loads unchanged and a damaged file is rejected") {
  const TemporaryFolder folder;
  const auto path = folder / "table";
  save_lexical_table(small_table(), path);
  CHECK(load_lexical_table(path) == small_table());
  save_lexical_table(LexicalTable{}, path);
  CHECK(load_lexical_table(path) == LexicalTable{});

  save_lexical_table(small_table(), path);
  const std::string whole = read_file(path);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string other = whole;
    other[at] = static_cast<char>(other[at] ^ 1);
    write_file(path, other);
    CHECK(error_of([&] { load_lexical_table(path); }).starts_with(path.string()));
  }
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_file(path, whole.substr(0, size));
    CHECK(!error_of([&] { load_lexical_table(path); }).empty());
  }
  write_file(path, whole + "x");
  CHECK(contains(error_of([&] { load_lexical_table(path); }), "is damaged: its size does not match its header"));
  write_file(path, whole + std::string(8 * 1000, '\0'));
  CHECK(contains(error_of([&] { load_lexical_table(path); }), "is damaged: its size does not match its header"));
  std::filesystem::resize_file(path, std::uintmax_t{4} << 30);  // a hole, which takes no space
  CHECK(
      contains(error_of([&] { load_lexical_table(path); }), "it is larger than 1 GiB. It is damaged, or the wrong file."));
  write_file(path, "something else");
  CHECK(contains(error_of([&] { load_lexical_table(path); }), "is not a lexical table of this version"));
  CHECK(contains(error_of([&] { load_lexical_table(folder / "none"); }), "cannot open"));
}

TEST_CASE("lexical table: a file records its tokenizers and is rejected for other tokenizers") {
  const TemporaryFolder folder;
  const auto path = folder / "table";
  const auto refused = [&] { return error_of([&] { load_lexical_table(path, {3, 5}); }); };
  const std::string remedy = ". Create one with `align TEXT TRANSLATION --tokens MODEL_FOLDER --save FILE`.";
  save_lexical_table(small_table(), path, {3, 5});
  CHECK(load_lexical_table(path, {3, 5}) == small_table());
  CHECK(load_lexical_table(path) == small_table());
  for (const auto& others : {TableTokenizers{3, 4}, {4, 5}, {5, 3}}) {
    save_lexical_table(small_table(), path, others);
    CHECK(refused() == path.string() + " was made with other tokenizers than the model" + remedy);
  }
  const std::string silent =
      path.string() + " does not name its tokenizers: it is a table of words, or an earlier " + "attn wrote it" + remedy;
  save_lexical_table(small_table(), path);
  CHECK(refused() == silent);

  std::string older = read_file(path).erase(21 + 24, 16);  // after the title and the sizes: no tokenizers
  older[19] = '1';
  Checksum sum;
  sum.add(older.data() + 45, std::ssize(older) - 45);
  const std::uint64_t value = sum.value();
  write_file(path, older.replace(37, 8, reinterpret_cast<const char*>(&value), 8));
  CHECK(load_lexical_table(path) == small_table());
  CHECK(refused() == silent);
}
