// A letter (g: gzip, x: xz), then any bytes as a packed file of lines: they are unpacked to their end, or an attn::Error says
// why not.
#include <cstdint>
#include <cstdlib>

#include "attn/data/pair_reader.hpp"
#include "support/case_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  static const fuzz::CaseFolder folder;
  if (count == 0) return 0;
  const auto packed = folder.write(bytes[0] == 'x' ? "case.xz" : "case.gz", fuzz::text_of(bytes + 1, count - 1));
  const auto plain = folder.write("plain", "one\ntwo\n");
  try {
    attn::PairReader reader({attn::PairFormat::lines, packed, plain}, attn::UnequalLines::refuse);
    for (std::string one, other; reader.next(one, other);)
      if (other != "one" && other != "two") std::abort();
  } catch (const attn::Error&) {
  }
  return 0;
}
