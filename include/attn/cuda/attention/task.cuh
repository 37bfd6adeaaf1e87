#pragma once
#include "attn/cuda/device.cuh"
#include "attn/ops/attention.hpp"

namespace attn::kernels {

/// Where a row begins: a product of 32-bit numbers, which is one instruction.
__device__ inline Index row_offset(int row, Index stride) {
  return static_cast<Index>(std::uint64_t{static_cast<std::uint32_t>(row)} * static_cast<std::uint32_t>(stride));
}

/// How the rows of all heads of all sentences are cut into blocks: by the list of them, or, where there is none, into as many a
/// sentence as the longest takes. Heads count before sentences, so that blocks which run beside each other read the same rows.
struct AttentionBlocks {
  unsigned each, all;                    // of a sentence, where there is no list; altogether
  const std::int32_t* listed = nullptr;  // pairs of a sentence and a block in it

  template <class T>
  AttentionBlocks(const AttentionArgs<Cuda<T>>& args, const Ragged& ragged, Index rows)
      : each(static_cast<unsigned>(divide_up(ragged.longest, rows))) {
    Index total = each * args.heads * ragged.count;
    if (ragged.blocks != nullptr && rows == Cuda<T>::ragged_block)
      listed = ragged.blocks, total = ragged.block_count * args.heads;
    require(total < (Index{1} << 31), "attention: ", ragged.count, " sentences of up to ", ragged.longest,
            " tokens are more than one kernel can take; lower the batch size");
    all = static_cast<unsigned>(total);
  }
};

/// What a block of threads works on: a block of rows of one head of one sentence.
template <class T>
struct AttentionTask {
  int block, head;             // which rows, which columns
  int width, value_width;      // of a head
  int queries, keys;           // of the sentence
  int first_query, first_key;  // their rows
  bool causal;

  __device__ AttentionTask(const AttentionArgs<Cuda<T>>& args, const AttentionBlocks& blocks) : causal(args.causal) {
    const auto heads = static_cast<unsigned>(args.heads);
    unsigned sentence;
    if (blocks.listed != nullptr) {
      const unsigned entry = blockIdx.x / heads;
      head = static_cast<int>(blockIdx.x - entry * heads);
      sentence = static_cast<unsigned>(blocks.listed[2 * entry]);
      block = blocks.listed[2 * entry + 1];
    } else {
      const unsigned pair = blockIdx.x / blocks.each;
      sentence = pair / heads;
      block = static_cast<int>(blockIdx.x - pair * blocks.each);
      head = static_cast<int>(pair - sentence * heads);
    }
    width = static_cast<int>(args.q.cols) / args.heads;
    value_width = static_cast<int>(args.v.cols) / args.heads;
    first_query = args.queries.begin[sentence];
    first_key = args.keys.begin[sentence];
    queries = args.queries.end[sentence] - first_query;
    keys = args.keys.end[sentence] - first_key;
  }

  /// How many keys a query sees: the first ones.
  __device__ int visible(int query) const { return causal ? min(max(keys - queries + query + 1, 0), keys) : keys; }
  /// The first query that sees a key.
  __device__ int first_to_see(int key) const { return causal ? max(key - (keys - queries), 0) : 0; }

  /// Where a row of this head begins in a matrix of queries or of keys.
  template <class U>
  __device__ U* query(const Matrix<U>& m, int i) const {
    return m.data + row_offset(first_query + i, m.stride) + head * width;
  }
  template <class U>
  __device__ U* key(const Matrix<U>& m, int i) const {
    return m.data + row_offset(first_key + i, m.stride) + head * width;
  }
  /// The same where rows are as wide as values.
  template <class U>
  __device__ U* query_values(const Matrix<U>& m, int i) const {
    return m.data + row_offset(first_query + i, m.stride) + head * value_width;
  }
  template <class U>
  __device__ U* key_values(const Matrix<U>& m, int i) const {
    return m.data + row_offset(first_key + i, m.stride) + head * value_width;
  }
  /// Where the columns of this head begin in a row, `width` of a head.
  template <class U>
  __device__ U* in_row(const Matrix<U>& m, int row, int width) const {
    return m.data + row_offset(row, m.stride) + head * width;
  }
  /// Where a query's statistics are (its log-sum-exp, its delta), one a head.
  __device__ Index statistic(int query, int heads) const { return Index{first_query + query} * heads + head; }
  /// The random numbers of a query's dropout.
  __device__ RandomKey random_key(const AttentionArgs<Cuda<T>>& args, int query) const {
    return derive(args.dropout.key, static_cast<std::uint64_t>(head * args.q.rows + first_query + query));
  }
};

}  // namespace attn::kernels
