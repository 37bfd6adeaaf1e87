#pragma once
#include <functional>

#include "attn/data/batches.hpp"
#include "attn/train/safetensors.hpp"
#include "attn/train/trainer.hpp"
#include "options.hpp"

// From the words of the command line to the settings of the library.

attn::BatchOptions batch_options(const Options& options);
attn::TrainOptions train_options(const Options& options, std::function<bool()> stop);

/// The learning rate, by name.
struct NamedSchedule {
  std::function<double(attn::Index)> rate;
  double operator()(attn::Index step) const { return rate(step); }
};
NamedSchedule rate_schedule(const Options& options, attn::Index steps, attn::Index width);

/// What a checkpoint says about itself.
attn::Metadata describe(const Options& options, std::uint64_t tokenizer_hash);
