// refused: static assertion failed.*an attention policy needs  LengthProjection<Device, Width, Heads>  with  KeysValues operator
#include "attn/attention/multi_head.hpp"
#include "device.hpp"

struct Policy {
  using Score = attn::ScaledDot;
  static constexpr bool causal_allowed = true;
#ifndef ATTN_REFUSED
  template <class Device, int Width, int Heads>
  struct LengthProjection {
    attn::KeysValues<Device> operator()(attn::KeysValues<Device> all) const { return all; }
    void for_each_parameter(auto&&) {}
  };
#endif
};

attn::MultiHead<Device, 64, 4, Policy> layer;
