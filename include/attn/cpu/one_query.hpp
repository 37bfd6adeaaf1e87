#pragma once
#include "attn/core/tuple.hpp"
#include "attn/cpu/device.hpp"
#include "attn/cpu/eigen.hpp"
#include "attn/ops/attention.hpp"

// Attention with one query per sentence, as in decoding steps. Its cost is reading keys and values once, so all heads read
// each row together, in memory order.

namespace attn::cpu {

/// x · y. The bits depend only on the numbers, not on their alignment.
template <class T>
T dot(const T* x, const T* y, Index count) {
  using namespace Eigen::internal;
  using Packet = typename packet_traits<T>::type;
  constexpr Index kLanes = packet_traits<T>::size;
  Packet sum = pset1<Packet>(T(0));
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes) sum = pmadd(ploadu<Packet>(x + i), ploadu<Packet>(y + i), sum);
  T total = predux(sum);
  for (; i < count; ++i) total += x[i] * y[i];
  return total;
}

/// y += the sum of weights[r] * rows[r]
template <int R, class T>
void add_weighted(const T* weights, const T* const (&rows)[R], Index from, Index count, T* y) {
  using namespace Eigen::internal;
  using Packet = typename packet_traits<T>::type;
  constexpr Index kLanes = packet_traits<T>::size;
  Index i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Packet sum = ploadu<Packet>(y + i);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) sum = pmadd(pset1<Packet>(weights[r]), ploadu<Packet>(rows[r] + from + i), sum);
    pstoreu(y + i, sum);
  }
  for (; i < count; ++i)
    for (int r = 0; r < R; ++r) y[i] += weights[r] * rows[r][from + i];
}

/// The distance between the weights of two heads. A multiple of 64 numbers aligns vector sums, so bits do not depend on it.
inline Index weights_stride(Index keys) { return (keys + 63) / 64 * 64; }

/// Heads `first` to `first + heads - 1` of the query in row `query`, over `keys` keys. room: heads * weights_stride(keys).
template <class T>
void attend_one_query(const AttentionArgs<Cpu<T>>& args, Index query, Index first_key, Index keys, Index first, Index heads,
                      T* room) {
  const Index width = args.k.cols / args.heads, value_width = args.v.cols / args.heads;
  const Index stride = weights_stride(keys);
  const std::int32_t* const listed = args.keys.row_indices;
  const auto row = [&](Index j) { return listed != nullptr ? Index{listed[first_key + j]} : first_key + j; };
  const T* q = args.q.row(query) + first * width;
  for (Index j = 0; j < keys; ++j) {
    const T* key = args.k.row(row(j)) + first * width;
    for (Index h = 0; h < heads; ++h) room[h * stride + j] = T(args.scale) * dot(q + h * width, key + h * width, width);
  }
  T* y = args.y.row(query) + first * value_width;
  std::fill_n(y, heads * value_width, T(0));
  for (Index h = 0; h < heads; ++h) args.lse[query * args.heads + first + h] = softmax_in_place(room + h * stride, keys);
  const auto add_values = [&]<int R>(StaticIndex<R>, Index j) {
    const T* rows[R];
    for (int r = 0; r < R; ++r) rows[r] = args.v.row(row(j + r)) + first * value_width;
    for (Index h = 0; h < heads; ++h)
      add_weighted(room + h * stride + j, rows, h * value_width, value_width, y + h * value_width);
  };
  constexpr int kTogether = 4;
  Index j = 0;
  for (; j + kTogether <= keys; j += kTogether) add_values(StaticIndex<kTogether>{}, j);
  for (; j < keys; ++j) add_values(StaticIndex<1>{}, j);
}

/// Attention with at most one query per sentence, which sees all keys.
template <class T>
void attend_one_query(Cpu<T>& device, const AttentionArgs<Cpu<T>>& args) {
  const Index sentences = args.queries.count, heads = args.heads;
  const Index together = std::clamp<Index>(heads * sentences / device.threads(), 1, heads);  // heads per task
  const Index parts = (heads + together - 1) / together;
  device.parallel(sentences * parts, [&](Index task, int thread) {
    const Index sentence = task / parts, first = task % parts * together, count = std::min(together, heads - first);
    if (args.queries.length(sentence) == 0) return;
    const Index keys = args.keys.length(sentence);
    attend_one_query(args, args.queries.begin[sentence], args.keys.begin[sentence], keys, first, count,
                     device.workspace(thread, count * weights_stride(keys), 1));
  });
}

}  // namespace attn::cpu
