// refused: static assertion failed.*the Layer of a score needs  template <int Value> Variable<Device, Value> operator
#ifdef ATTN_REFUSED
#define WITHOUT_CALL
#endif
#include "score.hpp"
