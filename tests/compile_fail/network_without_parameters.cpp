// refused: static assertion failed: attn: Network: a model needs  void for_each_parameter
#include "attn/core/network.hpp"

#include "device.hpp"

struct Model {
  using DeviceType = Device;
  attn::Parameter<Device> weight{2, 2};
#ifndef ATTN_REFUSED
  void for_each_parameter(auto&& visit) { visit("weight", weight); }
#endif
};

using Owner = attn::Network<Model>;
static_assert(sizeof(Owner) > 0);
