#pragma once
#include "attn/core/batch.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

/// A batch on the device.
struct UploadedBatch {
  Text source;  // what the encoder reads
  Text target;  // what the decoder reads
  Text labels;  // what it is to say, row by row
};

template <class Device>
UploadedBatch upload(Tape<Device>& tape, const Batch& batch) {
  require(batch.source.size() == batch.target_input.size(), "a batch of ", batch.source.size(),
          " source sentences does not pair with ", batch.target_input.size(), " target sentences");
  require(batch.target_input.offsets == batch.target_output.offsets,
          "a batch's target_output has sentences of other lengths than its target_input; Batch::of makes both");
  return {upload(tape, batch.source), upload(tape, batch.target_input), upload(tape, batch.target_output)};
}

}  // namespace attn
