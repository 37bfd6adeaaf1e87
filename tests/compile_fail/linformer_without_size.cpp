// refused: static assertion failed.*Linformer: k and n must be positive
#include "attn/attention/linformer.hpp"
#include "attn/attention/multi_head.hpp"
#include "device.hpp"

#ifdef ATTN_REFUSED
attn::MultiHead<Device, 64, 4, attn::Linformer<0>> layer;
#else
attn::MultiHead<Device, 64, 4, attn::Linformer<1>> layer;
#endif
