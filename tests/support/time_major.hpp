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

/// The layout of a step of this number of sentences.
template <class Device>
TimeMajor one_step(Tape<Device>& tape, Index sentences) {
  std::vector<std::int32_t> offsets(static_cast<std::size_t>(sentences) + 1);
  std::iota(offsets.begin(), offsets.end(), 0);
  return one_step(upload_offsets(tape, offsets.data(), sentences));
}

}  // namespace attn
