#pragma once
#include "corpus.hpp"
#include "options.hpp"

// One function for each model, each compiled in a file of its own, so that they compile side by side.

void run_transformer_small(const Options& options, const Corpus& corpus);
void run_transformer_base(const Options& options, const Corpus& corpus);
void run_linformer32_small(const Options& options, const Corpus& corpus);
void run_linformer32_base(const Options& options, const Corpus& corpus);
void run_linformer64_small(const Options& options, const Corpus& corpus);
void run_linformer64_base(const Options& options, const Corpus& corpus);
