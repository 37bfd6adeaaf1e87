// refused: static assertion failed.*the decoder's layers start with the states of the encoder's
#include "recurrent_device.hpp"

#ifdef ATTN_REFUSED
constexpr attn::RecurrentShape shape{.embedding = 8, .width = 8, .encoder_layers = 2, .decoder_layers = 3};
#else
constexpr attn::RecurrentShape shape{.embedding = 8, .width = 8, .encoder_layers = 2, .decoder_layers = 2};
#endif

attn::Seq2Seq<Device, shape, attn::BothWays> model({.source_vocabulary = 8, .target_vocabulary = 8});
