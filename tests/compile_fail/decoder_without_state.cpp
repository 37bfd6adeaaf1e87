// refused: static assertion failed: attn: decoding: a model has a state:  class State : public ActiveSentences
#include "attn/decode/translate_lines.hpp"
#include "attn/transformer.hpp"

using Device = attn::Cpu<float>;

struct Model : attn::Transformer<Device> {
  using Transformer::Transformer;
#ifdef ATTN_REFUSED
  struct State {};
#endif
};

void decode(Device& device, const attn::Network<Model>& network) { attn::ModelEngine(device, *network); }
