// refused: static assertion failed.*a score of global attention needs  Layer<Device, Query, Key>  with  static constexpr int width
#ifdef ATTN_REFUSED
#define WITHOUT_WIDTH
#endif
#include "score.hpp"
