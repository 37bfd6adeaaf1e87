// refused: static assertion failed: attn: Translator: pass a Network without its device
#include "attn/decode/translator.hpp"
#include "attn/text/word_vocabulary.hpp"
#include "attn/transformer.hpp"

using Device = attn::Cpu<float>;
using Model = attn::Transformer<Device, attn::small_shape>;

void translate(Device& device, attn::Network<Model>& network, const attn::WordVocabulary& words) {
#ifdef ATTN_REFUSED
  const attn::Translator translator(device, network, words, words);
#else
  const attn::Translator translator(network, words, words);
#endif
  translator({"a dog"});
}
