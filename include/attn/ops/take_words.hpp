#pragma once
#include "attn/core/types.hpp"
#include "attn/ops/no_backend.hpp"

// take_words   the end of a step of greedy decoding, of rows that stay where they are, with nothing asked of the host:
//
//   words[i] = best[i];  written[step][i] = best[i] while row i has not ended;  row i ends when best[i] is the end token
//   remaining[step] = rows that have not ended;  each of `counters` grows by 1;  step grows by 1
//
// Counters are where the next step writes and reads: positions, and ends of caches.

namespace attn {

template <class Device>
struct TakeWordsArgs {
  const Token* best;  // rows
  Index rows;
  Token end;
  Token* words;             // rows: what the next step reads
  std::int32_t* ended;      // rows: 1 or 0
  Token* written;           // steps x rows
  std::int32_t* step;       // 1
  std::int32_t* remaining;  // steps; may be memory of the host that the device writes to
  std::int32_t* counters;   // counter_count
  Index counter_count;
};

template <class Device>
void take_words(Device&, const TakeWordsArgs<Device>&) {
  no_backend<Device>();
}

}  // namespace attn
