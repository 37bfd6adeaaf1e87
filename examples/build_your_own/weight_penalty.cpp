// A penalty on one weight matrix. variable(tape, weight) makes an activation of it, which any formula takes. Two equal
// networks learn the same function, one with the penalty.

#include <iostream>

#include "attn/core/network.hpp"
#include "attn/nn/linear.hpp"
#include "attn/optim/adam.hpp"
#include "attn/tape/losses.hpp"
#include "attn/tape/transfer.hpp"
#include "device.hpp"

using namespace attn;

struct Regressor {
  using DeviceType = Device;
  Linear<Device> hidden{2, 32}, out{32, 1};

  Variable<Device> operator()(Variable<Device> x) const { return out(tanh(hidden(x))); }
  void for_each_parameter(auto&& visit) { visit("hidden", hidden), visit("out", out); }
};

int main() {
  Device device;
  Network<Regressor> free(device, 1), penalised(device, 1);
  Adam free_adam(free), penalised_adam(penalised);
  Random random(2);
  double errors[2], norms[2];
  for (std::uint64_t step = 1; step <= 400; ++step) {
    std::vector<float> inputs, targets;
    for (int i = 0; i < 64; ++i) {
      const double a = random.uniform(-1, 1), b = random.uniform(-1, 1);
      inputs.insert(inputs.end(), {static_cast<float>(a), static_cast<float>(b)});
      targets.push_back(static_cast<float>(a * b));
    }
    for (const bool penalise : {false, true}) {
      const auto& network = penalise ? penalised : free;
      Tape<Device> tape(device, TapeMode::training(1, step));
      Loss<Device> error = mse((*network)(upload(tape, inputs, 64, 2)), upload(tape, targets, 64, 1));
      Loss<Device> squares = sum(square(variable(tape, network->hidden.weight)));
      Loss<Device> loss = penalise ? error + 1e-3 * squares : error;
      loss.backward();
      (penalise ? penalised_adam : free_adam).step(1e-2);
      errors[penalise] = error.value(), norms[penalise] = squares.value();
    }
  }
  std::cout << "error " << errors[0] << ", squared weights " << norms[0] << "; with the penalty " << errors[1] << " and "
            << norms[1] << "\n";
  return errors[1] < 0.01 && norms[1] < 0.8 * norms[0] ? 0 : 1;
}
