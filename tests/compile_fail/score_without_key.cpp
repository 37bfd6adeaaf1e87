// refused: static assertion failed.*the Layer of a score needs  Variable<Device, width> key
#ifdef ATTN_REFUSED
#define WITHOUT_KEY
#endif
#include "score.hpp"
