// refused: attn: no such option.*SgdOptions has momentum
#include "attn/cpu.hpp"
#include "attn/optim/sgd.hpp"

using Device = attn::Cpu<float>;

struct Model {
  using DeviceType = Device;
  attn::Parameter<Device> weight{2, 2};
  void for_each_parameter(auto&& visit) { visit("weight", weight); }
};

void train(attn::Network<Model>& network) {
#ifdef ATTN_REFUSED
  attn::Sgd sgd(network, {.lr = 1e-3, .momentum = 0.9});
#else
  attn::Sgd sgd(network, {.momentum = 0.9});
#endif
  sgd.step(1e-3);
}
