// GPU benchmark of attn's recurrent models, in bfloat16 and in float: training steps (loss, backward pass, clipping, Adam)
// and greedy decoding. Prints one JSON line per measurement, like benchmarks/pytorch_recurrent.py, which runs the same
// workload.
//
//   recurrent_cuda [--only NAME,...] [--quick] [--profile]
//
// NAME is a prefix of a measurement's name: comparison, coursework lexical, input feeding, large, decode and so on. With
// --profile, NAME is a full name, and the program runs three steps, marked for a profiler, without measuring.

#include "gpu_training.cuh"
#include "recurrent_decoding.hpp"

using namespace attn;

template <class Device>
void measure_all(Run& run, const std::string& mode) {
  for_each_recurrent<Device>([&]<class Model>(const RecurrentWork& work) {
    run(work.name, [&](const std::string& name) {
      measure_training<Device, Model>(
          name, mode, run, recurrent_batch(work), work.options, {.clip_norm = 4},
          [&](const auto& parameters, const attn::Batch&) { return recurrent_flop(parameters, work); });
    });
  });
  if (run.profile) return;
  Device device;
  for_each_recurrent<Device>(
      [&]<class Model>(const RecurrentWork& work) { measure_decoding<Model>(run, mode, device, work); });
}

int main(int count, char** words) try {
  Run run(count, words);
  describe_machine<Cuda<bfloat16>>();
  measure_all<Cuda<bfloat16>>(run, "attn");
  if (!run.profile) measure_all<Cuda<float>>(run, "attn float");
  return run.failed ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "recurrent_cuda: %s\n", error.what());
  return 1;
}
