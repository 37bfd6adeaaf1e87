#pragma once
#include "attn/cuda/device.cuh"
#include "attn/ops/attention.hpp"

namespace attn::kernels {

/// Offset of a row. A product of 32-bit integers takes one instruction.
__device__ inline Index row_offset(int row, Index stride) {
  return static_cast<Index>(std::uint64_t{static_cast<std::uint32_t>(row)} * static_cast<std::uint32_t>(stride));
}

/// Splits the rows of all heads of all sentences into blocks: by the block list, or without one into as many blocks per
/// sentence as the longest needs. Heads vary faster than sentences, so that neighbouring blocks read the same rows.
struct AttentionBlocks {
  unsigned each, all;                    // per sentence and head, without a list; in total
  const std::int32_t* listed = nullptr;  // pairs of a sentence and a block of it

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

/// The task of a thread block: a block of rows of one head of one sentence.
template <class T>
struct AttentionTask {
  int block, head;             // index of the rows, of the columns
  int width, value_width;      // of a head
  int queries, keys;           // of the sentence
  int first_query, first_key;  // their first rows
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

  /// Number of leading keys that a query sees.
  __device__ int visible(int query) const { return causal ? min(max(keys - queries + query + 1, 0), keys) : keys; }
  /// The first query that sees a key.
  __device__ int first_to_see(int key) const { return causal ? max(key - (keys - queries), 0) : 0; }

  /// The columns of this head in a row, with `width` columns per head.
  template <class U>
  __device__ U* in_row(const Matrix<U>& m, int row, int width) const {
    return m.data + row_offset(row, m.stride) + head * width;
  }
  /// A row of this head in a matrix of queries or of keys.
  __device__ auto* query(const auto& m, int i) const { return in_row(m, first_query + i, width); }
  __device__ auto* key(const auto& m, int i) const { return in_row(m, first_key + i, width); }
  /// The same in a matrix with the width of values.
  __device__ auto* query_values(const auto& m, int i) const { return in_row(m, first_query + i, value_width); }
  __device__ auto* key_values(const auto& m, int i) const { return in_row(m, first_key + i, value_width); }
  /// Index of a query's statistics (log-sum-exp, delta), one per head.
  __device__ Index statistic(int query, int heads) const { return Index{first_query + query} * heads + head; }
  /// The random key of a query's dropout.
  __device__ RandomKey random_key(const AttentionArgs<Cuda<T>>& args, int query) const {
    return derive(args.dropout.key, static_cast<std::uint64_t>(head * args.q.rows + first_query + query));
  }
};

/// The task of a block that iterates over the keys of `rows` queries from `first` on, the last of which sees `seen` keys.
/// Causal blocks that see the most keys start first.
template <class T>
struct QueryTask : AttentionTask<T> {
  int first, seen;

  __device__ QueryTask(const AttentionArgs<Cuda<T>>& args, const AttentionBlocks& blocks, int rows)
      : AttentionTask<T>(args, blocks) {
    if (this->causal && blocks.listed == nullptr) this->block = static_cast<int>(blocks.each) - 1 - this->block;
    first = this->block * rows;
    seen = this->visible(min(first + rows, this->queries) - 1);
  }
};

}  // namespace attn::kernels
