#include "place.hpp"

#include <CLI/CLI.hpp>
#include <iostream>

#include "gpus.hpp"
#include "on_cpu.hpp"

void add_place_options(CLI::App& app, Place& place) {
  const auto* group = "Device";
  app.add_option("--device", place.device, "Where to run; auto: on a GPU if this program was built for one and finds one")
      ->group(group)
      ->check(CLI::IsMember({"cpu", "cuda", "auto"}));
  app.add_option("--threads", place.threads, "CPU: cores to use; 0: all")->group(group)->check(CLI::NonNegativeNumber);
  app.add_option("--gpu", place.gpu, "GPU: which one, where there are several")
      ->group(group)
      ->check(CLI::NonNegativeNumber);
  app.add_option("--precision", place.precision,
                 "bf16: on a GPU for activations and weights, on a CPU that has instructions for it for the operands of "
                 "matrix products, sums and optimiser in float; float: for all; auto: bf16 on a GPU, float on the CPU")
      ->group(group)
      ->check(CLI::IsMember({"auto", "bf16", "float"}));
  app.add_flag("--tf32", place.tf32,
               "GPU, with --precision float: matrix products of operands rounded to TF32, much faster")
      ->group(group);
}

void check_place_options(const Place& place) {
  if (place.tf32 && place.precision != "float") throw CLI::ValidationError("--tf32 goes with --precision float");
}

bool is_gpu(const Place& place) {
  const bool cuda = place.device == "cuda" || (place.device == "auto" && gpus() > 0);
  if (cuda) {
    check_gpu(place.gpu);
    std::cout << gpus_found() << "; this run is on GPU " << place.gpu << ", in " << place.precision_on_gpu() << "\n";
  } else {
    const attn::Cpu<float> probe(on_cpu(place));  // what it cannot do, it says now
    if (place.device == "auto" && built_with_cuda()) std::cout << gpus_found() << "; this run is on the CPU\n";
  }
  return cuda;
}
