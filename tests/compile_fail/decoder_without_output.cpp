// refused: static assertion failed: attn: decoding: a model has an output layer:  Output<Device> output;
#include "attn/decode/translator.hpp"
#include "attn/text/word_vocabulary.hpp"
#include "attn/transformer.hpp"

using Device = attn::Cpu<float>;

struct Model : attn::Transformer<Device> {
  using Transformer::Transformer;
#ifdef ATTN_REFUSED
  int output;
#endif
};

void decode(const attn::Network<Model>& network, const attn::WordVocabulary& words) {
  attn::Translator(network, words, words);
}
