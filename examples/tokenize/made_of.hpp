#pragma once
#include <string>

#include "options.hpp"

/// What a corpus is made of, in words: a checksum of every byte of its text, the tokenizer, the rules. Two that agree are
/// one corpus, wherever the files lie; an edit of equal length is another. Of a pipe, which can be read once, it is "".
std::string made_of(const Options& options);
