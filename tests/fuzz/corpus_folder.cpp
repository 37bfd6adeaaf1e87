// A corpus's folder of corpus.json, a vocabulary and a shard: every pair is read, or an attn::Error says why not.
#include <cstdint>
#include <cstdlib>

#include "attn/run/corpus_folder.hpp"
#include "support/case_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  static const fuzz::CaseFolder folder;
  const auto files = fuzz::files_of(fuzz::text_of(bytes, count), 3);
  folder.write("corpus.json", files[0]);
  folder.write("tokenizer.vocab", files[1]);
  folder.write("00000.shard", files[2]);
  try {
    const attn::OpenCorpus corpus = attn::open_corpus(folder.path());
    std::vector<attn::Token> space;
    for (attn::Index i = 0; i < corpus.pairs.size(); ++i) {
      corpus.tokenizers.source.decode(corpus.pairs.source_tokens(i, space));
      corpus.tokenizers.target.decode(corpus.pairs.target_tokens(i, space));
    }
  } catch (const attn::Error&) {
  }
  attn::tokenizers_of_corpus(folder.path(), "text");
  return 0;
}
