#pragma once
#include "attn/core/sentences.hpp"
#include "attn/tape/lstm.hpp"

namespace attn {

/// The layout of these sentences for recurrent layers.
template <class Device>
TimeMajor time_major(Tape<Device>& tape, const Sentences& sentences) {
  const std::int32_t* offsets = sentences.offsets.data();
  return time_major(tape, upload_offsets(tape, offsets, sentences.size()), offsets);
}

}  // namespace attn
