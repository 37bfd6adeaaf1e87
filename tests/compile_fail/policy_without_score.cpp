// refused: static assertion failed.*an attention policy needs  using Score
#include "attn/attention/multi_head.hpp"
#include "device.hpp"

struct Policy {
#ifndef ATTN_REFUSED
  using Score = attn::ScaledDot;
#endif
  static constexpr bool causal_allowed = true;
  template <class Device, int Width, int Heads>
  struct LengthProjection {
    attn::KeysValues<Device> operator()(attn::KeysValues<Device> all) const { return all; }
    void for_each_parameter(auto&&) {}
  };
};

attn::MultiHead<Device, 64, 4, Policy> layer;
