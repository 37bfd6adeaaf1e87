// refused: attn: Network: a model needs  using DeviceType
#include "attn/core/network.hpp"

#include "device.hpp"

struct Model {
#ifndef ATTN_REFUSED
  using DeviceType = Device;
#endif
  attn::Parameter<Device> weight{2, 2};
  void for_each_parameter(auto&& visit) { visit("weight", weight); }
};

using Owner = attn::Network<Model>;
static_assert(sizeof(Owner) > 0);
