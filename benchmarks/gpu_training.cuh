#pragma once
#include "attn/optim/adam.hpp"
#include "attn/tape/embedding.hpp"
#include "gpu_run.cuh"
#include "gpu_timing.cuh"
#include "training_workload.hpp"

/// Measures training steps over the batches in turn: the time of a normal step, the host's part, and the GPU's part alone.
template <class Device, class Model, class Options>
void measure_training(const std::string& name, const std::string& mode, const Run& run,
                      const std::vector<attn::Batch>& data, const Options& options, const attn::AdamOptions& adam_options,
                      const auto& flop_of) {
  using namespace attn;
  MemoryWatch memory;
  Device device;
  Model model(options);
  Parameters<Device> parameters(device, model, 1);
  Adam<Device> adam(parameters, adam_options);
  std::uint64_t steps = 0;
  const auto step = [&](const attn::Batch& batch, bool look = false) {
    Tape<Device> tape(device, TapeMode::training(1, ++steps));
    model.loss(tape, batch).backward();
    adam.step(1e-4);
    if (look) memory.look();  // before the tape ends and the arena merges its blocks
  };
  for (int pass = 0; pass < 2; ++pass)
    for (const attn::Batch& batch : data) step(batch, true);
  memory.look();
  if (run.profile) return run_profiled(device, [&](std::size_t i) { step(data[i % data.size()]); });

  const auto batches = static_cast<double>(data.size());
  const int repeats = run.repeats(data.size() > 1 ? 10 : 20);
  const double seconds = median_seconds(repeats,
                                        [&] {
                                          for (const attn::Batch& batch : data) step(batch);
                                          device.synchronize();
                                        }) /
                         batches;
  std::vector<double> host;  // host time until the last launch returns, from an empty stream
  double flop = 0, source = 0, target = 0;
  for (const attn::Batch& batch : data) {
    device.synchronize();
    host.push_back(host_seconds([&] { step(batch); }));
    flop += flop_of(parameters, batch) / batches;
    source += static_cast<double>(batch.source.tokens.size()) / batches;
    target += static_cast<double>(batch.target_input.tokens.size()) / batches;
  }
  double mean_loss = 0;
  {
    Tape<Device> tape(device);
    mean_loss = model.loss(tape, data[0]).mean();
  }
  require(std::isfinite(mean_loss), name, ": the loss is ", mean_loss, ", so the time is meaningless");
  const std::size_t held = device.reserved() + static_cast<std::size_t>(parameters.size()) *
                                                   (4 * sizeof(float) + sizeof(typename Device::Scalar));

  Json line{{"name", name},
            {"mode", mode},
            {"seconds", seconds},
            {"tokens", source + target + static_cast<double>(data[0].target_input.size())},
            {"source_rows", source},
            {"target_rows", target},
            {"target_tokens_per_second", target / seconds},
            {"host_seconds", median(host)},
            {"flop", flop},
            {"tflops", flop / seconds * 1e-12},
            {"memory_gib", memory.gib()},
            {"reserved_gib", static_cast<double>(held) / 0x1p30},
            {"parameters", parameters.count()},
            {"loss", mean_loss}};
  try {
    std::vector<Graph> graphs;
    for (const attn::Batch& batch : data) graphs.emplace_back(device, [&] { step(batch); });
    line["kernels"] = graphs[0].count(cudaGraphNodeTypeKernel);
    line["copies"] = graphs[0].count(cudaGraphNodeTypeMemcpy);
    line["memory_sets"] = graphs[0].count(cudaGraphNodeTypeMemset);
    const double replayed = StreamClock(device.stream()).median_seconds(repeats, [&] {
      for (const Graph& graph : graphs) graph.replay();
    });
    line["graph_seconds"] = replayed / batches;
  } catch (const std::exception& error) {
    line["graph_failed"] = error.what();
  }
  Run::print(line);
}
