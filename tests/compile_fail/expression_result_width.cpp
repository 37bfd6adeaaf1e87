// refused: static assertion failed.*widths differ
#include "attn/tape/arithmetic.hpp"
#include "device.hpp"

#ifdef ATTN_REFUSED
using Result = attn::Variable<Device, 16>;
#else
using Result = attn::Variable<Device, 8>;
#endif

template <class E>
void evaluate_expression(Device&, const attn::ExpressionArgs<Device, E>&);
template <class E>
void evaluate_expression_gradient(Device&, const attn::ExpressionGradientArgs<Device, E>&);

Result doubled(attn::Variable<Device, 8> x) { return 2 * x; }
