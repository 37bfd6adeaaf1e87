// refused: static assertion failed.*Stack: a stack needs at least one layer
#include "attn/models/transformer.hpp"
#include "device.hpp"

#ifdef ATTN_REFUSED
constexpr attn::TransformerShape shape{.encoder_layers = 0};
#else
constexpr attn::TransformerShape shape{.encoder_layers = 1};
#endif
attn::Transformer<Device, shape> model({.source_vocabulary = 10, .target_vocabulary = 10});
