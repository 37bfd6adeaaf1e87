// refused: static assertion failed.*a score of global attention needs  static constexpr bool equal_widths
#ifdef ATTN_REFUSED
#define WITHOUT_WIDTHS
#endif
#include "score.hpp"
