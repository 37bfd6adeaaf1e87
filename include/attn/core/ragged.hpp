#pragma once
#include "attn/core/error.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// Which rows of a packed matrix belong to which sentence: sentence s owns rows begin[s] up to, not including, end[s].
/// A packed batch is described by one array of offsets (begin = offsets, end = offsets + 1); a cache of keys, whose
/// sentences have room to grow, by two. The arrays live where the matrix lives; the counts are known to the host.
///
/// A device whose kernels take sentences in blocks of rows (Device::ragged_block) may be told which blocks there are, so
/// that none is started in vain: pairs of a sentence and the number of a block in it, those of long sentences first.
///
/// Where rows are listed, row j of sentence s is listed[begin[s] + j] instead of begin[s] + j: rows may lie anywhere, and
/// sentences may share them. Only attention of one query a sentence takes such keys (ops/attention.hpp).
struct Ragged {
  const std::int32_t* begin = nullptr;
  const std::int32_t* end = nullptr;
  Index count = 0;                       // sentences
  Index rows = 0;                        // of all sentences together
  Index longest = 0;                     // rows of the longest sentence
  const std::int32_t* blocks = nullptr;  // 2 * block_count, or none
  Index block_count = 0;
  const std::int32_t* listed = nullptr;
  const std::int32_t* offsets_on_host = nullptr;  // of a packed batch, while the tape lives that uploaded it; or none

  constexpr Index length(Index s) const { return end[s] - begin[s]; }
};

/// What an op calls that wants rows which lie together.
inline void refuse_lists(const char* op, const Ragged& rows) {
  require(rows.listed == nullptr, op, ": a sentence's rows are listed, but have to lie together here; gather them first");
}

}  // namespace attn
