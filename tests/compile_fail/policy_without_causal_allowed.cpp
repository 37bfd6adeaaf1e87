// refused: static assertion failed.*an attention policy needs  static constexpr bool causal_allowed
#include "attn/attention/multi_head.hpp"
#include "device.hpp"

struct Policy {
  using Score = attn::ScaledDot;
#ifndef ATTN_REFUSED
  static constexpr bool causal_allowed = true;
#endif
  template <class Device, int Width, int Heads>
  struct LengthProjection {
    attn::KeysValues<Device> operator()(attn::KeysValues<Device> all) const { return all; }
    void for_each_parameter(auto&&) {}
  };
};

attn::MultiHead<Device, 64, 4, Policy> layer;
