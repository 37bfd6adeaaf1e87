// refused: static assertion failed.*MultiHead: width must be a multiple of heads
#include "attn/models/transformer.hpp"
#include "device.hpp"

#ifdef ATTN_REFUSED
constexpr attn::TransformerShape shape{.width = 64, .heads = 7};
#else
constexpr attn::TransformerShape shape{.width = 64, .heads = 8};
#endif
attn::Transformer<Device, shape> model({.source_vocabulary = 10, .target_vocabulary = 10});
