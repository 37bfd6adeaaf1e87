#pragma once
#include "attn/core/types.hpp"

// greedy_step   the last part of a greedy decoding step, entirely on the device; rows keep their places:
//
//   tokens[i] = best[i];  written[step][i] = best[i] while row i has not ended;  row i ends when best[i] is the end token
//   remaining[step] = number of active rows;  each of `counters` grows by 1;  step grows by 1
//
// Counters hold positions and cache ends for the next step.

namespace attn {

template <class Device>
struct GreedyStepArgs {
  const Token* best;  // rows
  Index rows;
  Token end;
  Token* tokens;            // rows: input of the next step
  std::int32_t* ended;      // rows: 1 or 0
  Token* written;           // steps x rows
  std::int32_t* step;       // 1
  std::int32_t* remaining;  // steps; may be host memory that the device can write
  std::int32_t* counters;   // counter_count
  Index counter_count;
};

}  // namespace attn
