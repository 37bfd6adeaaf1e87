// A text and its translation in every format of files: a letter (l: lines, t: tsv, c: csv, n: csv with named columns), then the
// file or files. Every pair is read, and sieved by the rules, or an attn::Error says why not.
#include <cstdint>
#include <cstdlib>

#include "attn/data/pair_reader.hpp"
#include "attn/data/pair_rules.hpp"
#include "support/case_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  if (count == 0) return 0;
  const auto files = fuzz::files_of(fuzz::text_of(bytes + 1, count - 1), 2);
  const fuzz::MemoryFile source(files[0]), target(files[1]);
  attn::PairFiles given{attn::PairFormat::lines, source.path(), target.path()};
  if (bytes[0] == 't') given.format = attn::PairFormat::tsv;
  if (bytes[0] == 'c' || bytes[0] == 'n') given.format = attn::PairFormat::csv;
  if (bytes[0] == 'n') given.source_column = "en", given.target_column = "de";
  try {
    attn::PairReader reader(given, bytes[0] == 'l' ? attn::UnequalLines::drop : attn::UnequalLines::refuse);
    attn::PairFilter filter({attn::InvalidUtf8::repair, attn::BlankSide::drop, attn::Duplicates::drop});
    std::size_t read = 0;
    for (std::string one, other; reader.next(one, other);) {
      read += one.size() + other.size();
      if (filter.keep(one, other, [&] { return reader.where(); }) && attn::is_blank(one)) std::abort();
    }
    if (read > count) std::abort();
  } catch (const attn::Error&) {
  }
  return 0;
}
