// refused: static assertion failed.*BidirectionalLstm: each direction outputs half the width
#include "lstm_device.hpp"

#ifdef ATTN_REFUSED
attn::BidirectionalLstm<Device, 8, 15> layer;
#else
attn::BidirectionalLstm<Device, 8, 16> layer;
#endif
