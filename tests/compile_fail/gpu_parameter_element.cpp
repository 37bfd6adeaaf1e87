// refused: static assertion failed.*attn: this matrix is in GPU memory: .*a parameter with .*network.parameters.read
#include "attn/core/parameter.hpp"

struct Gpu {
  using Scalar = float;
  using Real = float;
  struct Memory {};
};
struct Host {
  using Scalar = float;
  using Real = float;
  using Memory = attn::HostMemory;
};

#ifdef ATTN_REFUSED
using Device = Gpu;
#else
using Device = Host;
#endif

float first(const attn::Parameter<Device>& weight) { return weight.matrix()(0, 0) + weight.gradient_matrix()(0, 0); }

attn::Matrix<const float> passed_on(const attn::Parameter<Gpu>& weight) { return weight.matrix(); }
