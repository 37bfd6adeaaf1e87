// Any bytes as a lexical table, as they are and with the checksum mended: every row is read, or an attn::Error says why not.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "attn/align/lexical_table_file.hpp"
#include "attn/core/checksum.hpp"
#include "support/case_files.hpp"

namespace {

void read_all(std::string_view bytes) {
  const fuzz::MemoryFile given(bytes);
  try {
    const attn::LexicalTable table = attn::load_lexical_table(given.path());
    attn::Index entries = 0;
    for (attn::Token word = 0; word <= table.empty_word(); ++word) {
      entries += std::ssize(table[word].targets);
      table.best(word, 3);
    }
    if (entries != table.entries() || table.pruned(0) != table) std::abort();
  } catch (const attn::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  std::string text(fuzz::text_of(bytes, count));
  read_all(text);
  const std::size_t place = attn::detail::lexical_table_title.size() + 2 * sizeof(std::int64_t), start = place + 8;
  if (count < start) return 0;
  attn::Checksum sum;
  sum.add(text.data() + start, static_cast<attn::Index>(count - start));
  const std::uint64_t value = sum.value();
  std::memcpy(text.data() + place, &value, sizeof value);
  read_all(text);
  return 0;
}
