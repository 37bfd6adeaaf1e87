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

namespace cpu {

/// Writes the maximum of each `block` numbers of a row, and returns that of all. Ignores NaN.
template <class T>
T largest_of_blocks(const T* row, Index count, Index block, T* largest) {
  using namespace Eigen::internal;
  using Packet = typename packet_traits<T>::type;
  constexpr Index kLanes = packet_traits<T>::size;
  T most = -std::numeric_limits<T>::infinity();
  for (Index first = 0; first < count; first += block, ++largest) {
    const Index end = std::min(count, first + block);
    Packet found = pset1<Packet>(-std::numeric_limits<T>::infinity());
    Index j = first;
    for (; j + kLanes <= end; j += kLanes) {
      const Packet some = ploadu<Packet>(row + j);
      found = pselect(pcmp_lt(found, some), some, found);
    }
    *largest = predux_max(found);
    for (; j < end; ++j) *largest = row[j] > *largest ? row[j] : *largest;
    most = std::max(most, *largest);
  }
  return most;
}

}  // namespace cpu

template <class T>
void top_k(Cpu<T>& device, const TopKArgs<Cpu<T>>& args) {
  using Choice = std::pair<T, Token>;
  constexpr Index kBlock = 64;  // most blocks hold no candidate
  constexpr T kNothing = -std::numeric_limits<T>::infinity();
  const Index classes = args.logits.cols, k = args.best.cols;
  const Token *except = args.except, *excepts_end = except + args.excepted;
  device.parallel_ranges(args.logits.rows, 1, [&](Index first, Index last, int thread) {
    // `choices` is a heap whose front is the worst choice so far.
    const auto better = [](const Choice& a, const Choice& b) {
      return a.first > b.first || (a.first == b.first && a.second < b.second);
    };
    T* const space = device.workspace(thread, classes + (classes + kBlock - 1) / kBlock, 1);
    T* const largest = space + classes;  // of each block
    std::vector<Choice> choices;
    for (Index i = first; i < last; ++i) {
      const T* row = args.logits.row(i);
      const T* summed = row;
      if (args.renormalize) {
        T* copy = device.workspace(thread, classes, 0);
        std::copy_n(row, classes, copy);
        for (Index e = 0; e < args.excepted; ++e)
          if (except[e] >= 0 && except[e] < classes) copy[except[e]] = kNothing;
        summed = copy;
      }
      const T most = cpu::largest_of_blocks(summed, classes, kBlock, largest);
      const T log_sum = std::log(cpu::exponentials(summed, classes, most, space));
      choices.clear();
      if (args.only != nullptr && args.only[i] >= 0) {
        choices.emplace_back(row[args.only[i]], args.only[i]);
      } else {
        for (Index block = 0; block < classes && k > 0; block += kBlock) {
          const Index end = std::min(classes, block + kBlock);
          if (static_cast<Index>(choices.size()) == k && !(largest[block / kBlock] > choices.front().first)) continue;
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
