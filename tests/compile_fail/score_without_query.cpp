// refused: static assertion failed.*the Layer of a score needs  Variable<Device, width> query
#ifdef ATTN_REFUSED
#define WITHOUT_QUERY
#endif
#include "score.hpp"
