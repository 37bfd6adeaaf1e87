// CPU benchmark of attn's recurrent models, in float and, if the processor supports it, with bf16 matrix products: training
// steps (loss, backward pass, clipping, Adam) and greedy decoding. Prints one JSON line per measurement, like
// benchmarks/pytorch_recurrent.py, which runs the same workload.
//
//   recurrent [--only NAME,...] [--quick] [--profile]
//
// NAME is a prefix of a measurement's name: comparison, coursework lexical, input feeding, large, decode and so on. With
// --profile, NAME is a full name, and the program runs some steps without measuring.

#include "recurrent_decoding.hpp"

using namespace attn;

using Device = Cpu<float>;

template <class Model>
void measure(const std::string& name, const Run& run, const RecurrentWork& work, bool bfloat16_products) {
  Device device({.bfloat16_products = bfloat16_products});
  Model model(work.options);
  Parameters<Device> parameters(device, model, 1);
  Adam<Device> adam(parameters, {.clip_norm = 4});
  const std::vector<attn::Batch> data = recurrent_batch(work);
  std::uint64_t steps = 0;
  double loss = 0;
  const auto step = [&] {
    Tape<Device> tape(device, TapeMode::training(1, ++steps));
    Loss<Device> minimised = model.loss(tape, data[0]);
    minimised.backward();
    loss = minimised.mean();
    adam.step(1e-3);
  };
  step();
  step();
  std::vector<double> seconds{host_seconds(step)};
  const double flop = recurrent_flop(parameters, work), enough = run.profile ? 10 : run.quick ? 1 : 4;
  for (double spent = seconds[0]; spent < enough || seconds.size() < 3; spent += seconds.back())
    seconds.push_back(host_seconds(step));
  require(std::isfinite(loss), name, ": the loss is ", loss, ", so the time is meaningless");
  const double typical = median(seconds);
  Run::print({{"name", name},
              {"mode", bfloat16_products ? "attn bf16" : "attn"},
              {"seconds", typical},
              {"least_seconds", *std::min_element(seconds.begin(), seconds.end())},
              {"repeats", seconds.size()},
              {"tokens", 2 * work.sentences * work.length},
              {"flop", flop},
              {"gflops", flop / typical * 1e-9},
              {"parameters", parameters.count()},
              {"loss", loss}});
}

int main(int count, char** words) try {
  Run run(count, words);
  for_each_recurrent<Device>([&]<class Model>(const RecurrentWork& work) {
    run(work.name, [&](const std::string& name) {
      if (kHasBfloat16Products) measure<Model>(name, run, work, true);
      measure<Model>(name, run, work, false);
    });
  });
  for_each_recurrent<Device>([&]<class Model>(const RecurrentWork& work) {
    Device device, bytes({.int8_weights = true});
    measure_decoding<Model>(run, "attn", device, work);
    measure_decoding<Model>(run, "attn int8", bytes, work);
    if (!kHasBfloat16Products) return;
    Device rounding({.bfloat16_products = true});
    measure_decoding<Model>(run, "attn bf16", rounding, work);
  });
  return run.failed ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "recurrent: %s\n", error.what());
  return 1;
}
