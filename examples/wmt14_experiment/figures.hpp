#pragma once
#include "options.hpp"

/// Measures forward passes with a constant number of tokens and varying sentence length (inference.tsv; keeps existing
/// times of the same device). Draws figure 1 (encoder-decoder) and figure 2 (encoder) with the paper's times and, if
/// present, PyTorch's.
void draw_figures(const ExperimentOptions& options);
