// Any bytes as a file of gold alignments: links in order, each once, or an attn::Error says why not.
#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "attn/align/pharaoh.hpp"
#include "attn/data/word_alignments.hpp"
#include "support/case_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const fuzz::MemoryFile file(fuzz::text_of(bytes, count));
  try {
    for (const attn::GoldAlignment& gold : attn::read_alignments(file.path())) {
      if (!std::ranges::includes(gold.possible, gold.sure)) std::abort();
      for (const attn::WordLink& link : gold.possible)
        if (link.source < 0 || link.target < 0) std::abort();
      if (attn::pharaoh_line(gold.possible).size() > 2 * count) std::abort();
    }
  } catch (const attn::Error&) {
  }
  return 0;
}
