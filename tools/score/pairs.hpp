#pragma once
#include "options.hpp"

/// Prints the perplexity of the target text given the source and, if requested, log P of each pair.
void score_given_pairs(const Options& options);
