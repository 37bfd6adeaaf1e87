// refused: attn: Network: this model needs options:  Network<Model> network
#include "attn/core/network.hpp"
#include "attn/cpu.hpp"

using Device = attn::Cpu<float>;

struct Model {
  using DeviceType = Device;
  struct Options {
    attn::Index rows = 0;
  };
  attn::Parameter<Device> weight;
  explicit Model(const Options& options) : weight{options.rows, 2} {}
  void for_each_parameter(auto&& visit) { visit("weight", weight); }
};

void make(Device& device) {
#ifdef ATTN_REFUSED
  attn::Network<Model> network(device, 1);
#else
  attn::Network<Model> network(device, {.rows = 2}, 1);
#endif
}
