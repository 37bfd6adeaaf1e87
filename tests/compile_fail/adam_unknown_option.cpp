// refused: attn: no such option. AdamOptions has beta1
#include "attn/cpu.hpp"
#include "attn/optim/adam.hpp"

using Device = attn::Cpu<float>;

struct Model {
  using DeviceType = Device;
  attn::Parameter<Device> weight{2, 2};
  void for_each_parameter(auto&& visit) { visit("weight", weight); }
};

void train(attn::Network<Model>& network) {
#ifdef ATTN_REFUSED
  attn::Adam adam(network, {.lr = 1e-3, .clip_norm = 1});
#else
  attn::Adam adam(network, {.clip_norm = 1});
#endif
  adam.step(1e-3);
}
