#pragma once
#include "attn/data/parallel_corpus.hpp"
#include "attn/data/parallel_text.hpp"
#include "attn/text/byte_bpe.hpp"
#include "options.hpp"

/// The text of a run, encoded.
struct Corpus {
  attn::ByteBpe tokenizer;
  attn::ParallelCorpus training, validation;
  attn::ParallelText test;
};

/// Reads or generates the text, and reads or learns the tokenizer, whose files go to the output folder.
Corpus load_corpus(const Options& options);
