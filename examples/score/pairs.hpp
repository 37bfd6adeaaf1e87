#pragma once
#include "options.hpp"

/// Prints how probable the target text is to the model, given the source: perplexity and, if asked for, log P of each pair.
void score_given_pairs(const Options& options);
