#pragma once
#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// Maps the rows of a packed matrix to sentences: sentence s owns rows [begin[s], end[s]). A packed batch needs one array
/// of offsets (begin = offsets, end = offsets + 1). A key cache, whose sentences have room to grow, needs two. The arrays
/// are in the matrix's memory; the host knows the counts.
///
/// `blocks` lists the row blocks for devices whose kernels process sentences in blocks (Device::ragged_block), so that they
/// launch no empty ones: pairs of a sentence and a block number within it, long sentences first.
///
/// With `row_indices`, row j of sentence s is row_indices[begin[s] + j] instead of begin[s] + j: rows may lie anywhere and
/// be shared. Only attention with one query per sentence accepts such keys (ops/attention.hpp).
struct Ragged {
  const std::int32_t* begin = nullptr;
  const std::int32_t* end = nullptr;
  Index count = 0;                       // sentences
  Index rows = 0;                        // total of all sentences
  Index longest = 0;                     // rows of the longest sentence
  const std::int32_t* blocks = nullptr;  // 2 * block_count, or none
  Index block_count = 0;
  const std::int32_t* row_indices = nullptr;
  const std::int32_t* offsets_on_host = nullptr;  // of a packed batch; valid as long as the tape that uploaded it; or null

  constexpr Index length(Index s) const { return end[s] - begin[s]; }
};

/// For ops that need contiguous rows: throws an Error if the rows are listed.
inline void refuse_lists(const char* op, const Ragged& rows) {
  require(rows.row_indices == nullptr, op,
          ": the rows of a sentence must be contiguous here, but are listed by index. Gather them first.");
}

/// Throws an Error if an activation of `count` rows cannot belong to the text. Checks packed batches only.
inline void check_rows(const char* op, Index count, const Ragged& rows) {
  require(rows.offsets_on_host == nullptr || rows.rows == count, op, ": the activation has ", count,
          " rows, but the text has ", rows.rows, ". Pass the rows of the activation's own text.");
}

}  // namespace attn
