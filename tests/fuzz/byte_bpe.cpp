// vocab.json, merges.txt and a text: what loads encodes the text and gives it back.
#include <cstdint>
#include <cstdlib>

#include "attn/text/byte_bpe_files.hpp"
#include "support/case_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const auto files = fuzz::files_of(fuzz::text_of(bytes, count), 3);
  const fuzz::MemoryFile vocabulary(files[0]), merges(files[1]);
  try {
    const attn::ByteBpe bpe = attn::load_byte_bpe(vocabulary.path(), merges.path());
    const std::vector<attn::Token> ids = bpe.encode(files[2]);
    if (bpe.decode(ids) != files[2]) std::abort();
    for (attn::Token id = 0; id < bpe.size(); ++id) bpe.name(id);
    bpe.encode_with_specials(files[2]);
  } catch (const attn::Error&) {
  }
  return 0;
}
