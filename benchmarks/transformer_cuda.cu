// GPU benchmark for attn in bfloat16: training steps of the base Transformer and the Linformer, attention alone, encoders.
// Prints one JSON line per measurement, like benchmarks/pytorch_cuda.py, which runs the same workload.
//
//   transformer_cuda [--only NAME,...] [--quick] [--profile]
//
// NAME is a prefix of a measurement's name: train, linformer32, linformer64, fixed, attention 88x64, attention 88x64
// causal, attention 88x64 tf32, encoder 128, encoder 128 linformer and so on. With --profile, NAME is a full name, and the program runs three
// steps, marked for a profiler, without measuring.

#include "gpu_attention.cuh"
#include "gpu_encoder.cuh"

using namespace attn;

int main(int count, char** words) try {
  Run run(count, words);
  describe_machine<Device>();
  const std::vector<attn::Batch> ragged = ragged_batches(run.quick ? 6 : 24, vocabulary), fixed = fixed_batch(vocabulary);
  run("train", [&](auto name) { measure_transformer<Transformer<Device>>(name, run, ragged); });
  run("linformer32",
      [&](auto name) { measure_transformer<Transformer<Device, base_shape, Linformer<32>>>(name, run, ragged, 32); });
  run("linformer64",
      [&](auto name) { measure_transformer<Transformer<Device, base_shape, Linformer<64>>>(name, run, ragged, 64); });
  run("fixed", [&](auto name) { measure_transformer<Transformer<Device>>(name, run, fixed); });

  struct Size {
    Index sentences, length;
  };
  for (const auto [sentences, length] : {Size{88, 64}, Size{88, 256}, Size{32, 1024}, Size{4, 8192}})
    for (const bool causal : {false, true})
      run("attention " + std::to_string(sentences) + "x" + std::to_string(length) + (causal ? " causal" : ""),
          [&](auto name) {
            Device device;
            measure_attention(name, run, device, sentences, length, causal);
          });
  for (const auto [sentences, length] : {Size{88, 64}, Size{88, 256}, Size{32, 1024}})
    run("attention " + std::to_string(sentences) + "x" + std::to_string(length) + " tf32", [&](auto name) {
      Cuda<float> device({.tf32 = true});
      measure_attention(name, run, device, sentences, length, false);
    });

  measure_encoders<Full<>>(run, "", 0);
  measure_encoders<Linformer<128, 16384>>(run, " linformer", 128);
  return run.failed ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "transformer_cuda: %s\n", error.what());
  return 1;
}
