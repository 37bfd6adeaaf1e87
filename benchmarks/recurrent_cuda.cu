// attn's side of the GPU comparison of recurrent models, in bfloat16 and in float: training steps (loss,
// backward pass, clipping, Adam) and greedy decoding. Prints one JSON line a measurement, like benchmarks/pytorch_recurrent.py, which does the
// same work.
//
//   recurrent_cuda [--only NAME,...] [--quick] [--profile]
//
// NAME is the beginning of a measurement's name: comparison, coursework lexical, input feeding, large, decode and so on. --profile
// runs three steps of those named in full, marked for a profiler, and measures nothing.

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
