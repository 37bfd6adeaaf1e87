#pragma once
#include <string>

#include "options.hpp"

/// A text description of a corpus: checksum of all text bytes, tokenizer and rules. Corpora with equal descriptions are
/// equal, regardless of file location. Empty for a pipe, which can be read only once.
std::string made_of(const Options& options);
