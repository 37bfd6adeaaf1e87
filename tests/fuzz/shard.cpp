// Any bytes as a shard, as they are and with the header's checksum mended: every sentence is read, or an attn::Error says why
// not.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "attn/data/sharded_corpus.hpp"
#include "support/case_files.hpp"

namespace {

void read_all(std::string_view bytes) {
  const fuzz::MemoryFile given(bytes);
  try {
    const attn::ShardedCorpus corpus({given.path()}, 100);
    std::vector<attn::Token> space;
    for (attn::Index i = 0; i < corpus.size(); ++i) {
      if (std::ssize(corpus.source_tokens(i, space)) != corpus.source_length(i)) std::abort();
      if (std::ssize(corpus.target_tokens(i, space)) != corpus.target_length(i)) std::abort();
    }
    corpus.shards()[0].verify();
  } catch (const attn::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  std::string text(fuzz::text_of(bytes, count));
  read_all(text);
  attn::ShardHeader header;
  if (count < sizeof header) return 0;
  std::memcpy(&header, text.data(), sizeof header);
  header.header_checksum = header.checksum();
  std::memcpy(text.data(), &header, sizeof header);
  read_all(text);
  return 0;
}
