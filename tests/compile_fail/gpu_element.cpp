// refused: static assertion failed.*attn: this matrix is in GPU memory: read it with download
#include "attn/tape/variable.hpp"

struct Gpu {
  using Scalar = float;
  struct Memory {};
};
struct Host {
  using Scalar = float;
  using Memory = attn::HostMemory;
};

#ifdef ATTN_REFUSED
using Device = Gpu;
#else
using Device = Host;
#endif

float first(attn::Variable<Device> x) { return x.value(0, 0); }

attn::Matrix<const float> passed_on(attn::Variable<Gpu> x) { return x.value; }
