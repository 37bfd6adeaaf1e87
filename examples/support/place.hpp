#pragma once
#include <string>

namespace CLI {
class App;
}

/// Where a program computes.
struct Place {
  std::string device = "auto";
  int threads = 0;                 // of the CPU
  int gpu = 0;                     // its number
  std::string precision = "auto";  // bf16 on a GPU, float on the CPU
  bool tf32 = false;

  std::string precision_on_gpu() const { return precision == "auto" ? "bf16" : precision; }
};

/// The options --device, --threads, --gpu, --precision and --tf32, which name a place.
void add_place_options(CLI::App& app, Place& place);

/// Throws what CLI11 reports where two of them contradict each other.
void check_place_options(const Place& place);

/// Whether the place is a GPU: what --device names, or means. Says what was found. What is not there is an Error now and not
/// after the text has been read.
bool is_gpu(const Place& place);
