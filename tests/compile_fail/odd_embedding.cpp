// refused: static assertion failed.*Embedding: sinusoidal positions come in pairs, so the width must be even
#include "attn/nn/embedding.hpp"
#include "device.hpp"

#ifdef ATTN_REFUSED
attn::Embedding<Device, 7> layer(100);
#else
attn::Embedding<Device, 8> layer(100);
#endif
