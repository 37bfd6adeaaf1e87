// refused: static assertion failed.*a score of global attention needs  Layer<Device, Query, Key>
#ifdef ATTN_REFUSED
#define WITHOUT_LAYER
#endif
#include "score.hpp"
