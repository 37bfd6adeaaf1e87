// Any bytes as a SentencePiece model: it cuts and joins text, or an attn::Error says why not.
#include "attn/text/sentencepiece.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  const std::string_view file(reinterpret_cast<const char*>(bytes), count);
  try {
    const attn::SentencePiece tokenizer(attn::read_sentencepiece_model(file));
    for (const std::string_view text :
         {std::string_view("The dog sleeps. \u00DCber \u4E2D\u6587 \U0001F600 \xE4\xB8 --A\u3000 x"), file.substr(0, 256),
          file.substr(count - count / 4)}) {
      const auto ids = tokenizer.encode(text);
      for (const attn::Token id : ids)
        if (id < 0 || id >= tokenizer.size() || tokenizer.name(id).empty()) std::abort();
      if (tokenizer.pieces(text).size() != ids.size()) std::abort();
      tokenizer.decode(ids);
    }
  } catch (const attn::Error&) {
  }
  return 0;
}
