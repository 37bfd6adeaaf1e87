// A vocabulary of words and a text: what loads numbers every word of its own as the file does.
#include <cstdint>
#include <cstdlib>

#include "attn/text/word_vocabulary_files.hpp"
#include "support/case_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const auto files = fuzz::files_of(fuzz::text_of(bytes, count), 2);
  const fuzz::MemoryFile vocabulary(files[0]);
  try {
    const attn::WordVocabulary words = attn::load_word_vocabulary(vocabulary.path());
    for (attn::Token id = attn::WordVocabulary::special_tokens; id < words.size(); ++id)
      if (words.id(words.name(id)) != id) std::abort();
    words.decode(words.encode(files[1]));
  } catch (const attn::Error&) {
  }
  return 0;
}
