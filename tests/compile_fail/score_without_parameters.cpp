// refused: static assertion failed.*the Layer of a score needs  void for_each_parameter
#ifdef ATTN_REFUSED
#define WITHOUT_PARAMETERS
#endif
#include "score.hpp"
