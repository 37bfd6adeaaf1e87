#pragma once
#include "attn/cpu/device.hpp"
#include "attn/ops/greedy_step.hpp"

namespace attn {

template <class T>
void greedy_step(Cpu<T>&, const GreedyStepArgs<Cpu<T>>& args) {
  Token* const written = args.written + Index{*args.step} * args.rows;
  std::int32_t remaining = 0;
  for (Index i = 0; i < args.rows; ++i) {
    args.tokens[i] = args.best[i];
    if (args.ended[i] == 0) written[i] = args.best[i];
    if (args.best[i] == args.end) args.ended[i] = 1;
    remaining += 1 - args.ended[i];
  }
  for (Index i = 0; i < args.counter_count; ++i) ++args.counters[i];
  args.remaining[*args.step] = remaining;
  ++*args.step;
}

}  // namespace attn
