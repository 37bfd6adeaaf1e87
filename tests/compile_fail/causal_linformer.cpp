// refused: static assertion failed.*this attention cannot be causal: its projection along the sentence mixes future
// positions into the past
#include "attn/attention/linformer.hpp"
#include "attn/attention/multi_head.hpp"
#include "device.hpp"

#ifdef ATTN_REFUSED
attn::MultiHead<Device, 64, 4, attn::Linformer<32>, attn::Mask::causal> layer;
#else
attn::MultiHead<Device, 64, 4, attn::Linformer<32>, attn::Mask::none> layer;
attn::MultiHead<Device, 64, 4, attn::Full<>, attn::Mask::causal> attends_to_past;
#endif
