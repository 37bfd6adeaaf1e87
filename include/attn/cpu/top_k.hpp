#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "attn/cpu/cross_entropy.hpp"
#include "attn/cpu/device.hpp"
#include "attn/ops/top_k.hpp"

namespace attn {

template <class T>
void top_k(Cpu<T>& device, const TopKArgs<Cpu<T>>& args) {
  using Choice = std::pair<T, Token>;
  constexpr Index kBlock = 64;  // most blocks hold nothing that is large enough, which vector instructions see
  constexpr T kNothing = -std::numeric_limits<T>::infinity();
  const Index classes = args.logits.cols, k = args.best.cols;
  const Token *except = args.except, *excepts_end = except + args.excepted;
  device.parallel_ranges(args.logits.rows, 1, [&](Index first, Index last, int thread) {
    // A heap whose front is the worst of the choices so far.
    const auto better = [](const Choice& a, const Choice& b) {
      return a.first > b.first || (a.first == b.first && a.second < b.second);
    };
    const auto any_above = [](const T* from, const T* to, T than) {
      bool any = false;
      for (; from < to; ++from) any |= *from > than;
      return any;
    };
    std::vector<Choice> choices;
    for (Index i = first; i < last; ++i) {
      const T* row = args.logits.row(i);
      const T most = cpu::largest(row, classes);
      const T log_sum = std::log(cpu::exponentials(row, classes, most, device.workspace(thread, classes, 1)));
      choices.clear();
      if (args.only != nullptr && args.only[i] >= 0) {
        choices.emplace_back(row[args.only[i]], args.only[i]);
      } else {
        for (Index block = 0; block < classes && k > 0; block += kBlock) {
          const Index end = std::min(classes, block + kBlock);
          if (static_cast<Index>(choices.size()) == k && !any_above(row + block, row + end, choices.front().first))
            continue;
          for (Index j = block; j < end; ++j) {
            const Choice choice{row[j], static_cast<Token>(j)};
            const bool room = static_cast<Index>(choices.size()) < k;
            if (std::isnan(choice.first) || !(room || choice.first > choices.front().first)) continue;
            if (std::find(except, excepts_end, choice.second) != excepts_end) continue;
            if (!room) std::pop_heap(choices.begin(), choices.end(), better), choices.pop_back();
            choices.push_back(choice);
            std::push_heap(choices.begin(), choices.end(), better);
          }
        }
        std::sort_heap(choices.begin(), choices.end(), better);
      }
      for (Index j = 0; j < k; ++j) {
        const bool found = j < static_cast<Index>(choices.size());
        const Choice choice = found ? choices[static_cast<std::size_t>(j)] : Choice{kNothing, -1};
        args.best(i, j) = choice.second;
        args.log_probabilities(i, j) = choice.first == kNothing ? kNothing : choice.first - most - log_sum;
      }
    }
  });
}

}  // namespace attn
