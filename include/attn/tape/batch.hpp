#pragma once
#include "attn/core/batch.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

/// A batch on the device.
struct UploadedBatch {
  Text source;  // input of the encoder
  Text target;  // input of the decoder
  Text labels;  // expected output, row by row
};

template <class Device>
UploadedBatch upload(Tape<Device>& tape, const Batch& batch) {
  require(batch.source.size() == batch.target_input.size(), "a batch of ", batch.source.size(), " source sentences has ",
          batch.target_input.size(), " target sentences. Pass one target per source.");
  require(
      batch.target_input.offsets == batch.target_output.offsets,
      "target_input and target_output of a batch have sentences of different lengths. Create the batch with Batch::of.");
  return {upload(tape, batch.source), upload(tape, batch.target_input), upload(tape, batch.target_output)};
}

}  // namespace attn
