#pragma once

/// Everything. Programs that care for their compile time include what they use; most need attn/transformer.hpp and little
/// else.

#include "attn/data/batches.hpp"
#include "attn/data/parallel_corpus.hpp"
#include "attn/data/parallel_text.hpp"
#include "attn/decode/greedy.hpp"
#include "attn/decode/translator.hpp"
#include "attn/metrics/bleu.hpp"
#include "attn/metrics/perplexity.hpp"
#include "attn/models/text_encoder.hpp"
#include "attn/optim/adam.hpp"
#include "attn/optim/schedules.hpp"
#include "attn/tape/dropout.hpp"
#include "attn/text/bpe_training.hpp"
#include "attn/text/byte_bpe.hpp"
#include "attn/text/byte_bpe_files.hpp"
#include "attn/text/grammar_corpus.hpp"
#include "attn/text/word_vocabulary.hpp"
#include "attn/text/word_vocabulary_files.hpp"
#include "attn/train/checkpoints.hpp"
#include "attn/train/run_log.hpp"
#include "attn/train/terminal.hpp"
#include "attn/train/trainer.hpp"
#include "attn/transformer.hpp"
#include "attn/version.hpp"
