// refused: static assertion failed: attn: decoding: a model reads tokens with  Variable<Device> read
#include "attn/decode/search.hpp"
#include "attn/transformer.hpp"

using Device = attn::Cpu<float>;

struct Model : attn::Transformer<Device> {
  using Transformer::Transformer;
#ifdef ATTN_REFUSED
  void read() const;
#endif
};

void decode(const attn::Network<Model>& network) { attn::beam_search(network, {}, {}); }
