#pragma once
#include "options.hpp"

/// Measures forward passes at constant tokens against the length of sentences (inference.tsv; what is there already of this
/// device is kept), and draws figure 1, the encoder-decoder, and figure 2, the encoder alone, beside PyTorch's times, if
/// there are any, and the paper's.
void draw_figures(const ExperimentOptions& options);
