#pragma once
#include <numeric>

#include "attn/core/batch.hpp"
#include "attn/tape/tape.hpp"

namespace attn {

/// Token ids on the device, and the layout of their sentences.
struct Text {
  const Token* tokens = nullptr;
  Ragged rows;
  Token smallest = 0, largest = 0;        // for vocabulary checks on the host
  const std::int32_t* offsets = nullptr;  // size + 1 sentence offsets, on the host; live as long as the tape
  const Token* tokens_on_host = nullptr;  // the same; null for tokens that the device has computed

  void include(const std::vector<Token>& more) {
    for (const Token token : more) smallest = std::min(smallest, token), largest = std::max(largest, token);
  }
};

/// The sentences by decreasing length, equal ones in order; on the host.
std::int32_t* longest_first(auto& tape, const std::int32_t* offsets, Index count) {
  auto* order = tape.device.tape_nodes.template array<std::int32_t>(count);
  std::iota(order, order + count, 0);
  std::sort(order, order + count, [=](std::int32_t a, std::int32_t b) {
    const std::int32_t left = offsets[a + 1] - offsets[a], right = offsets[b + 1] - offsets[b];
    return left != right ? left > right : a < b;
  });
  return order;
}

/// Lists the row blocks of a packed batch for devices that use them (core/ragged.hpp).
template <class Device>
void upload_blocks(Tape<Device>& tape, const std::int32_t* offsets, Ragged& rows) {
  const auto blocks = [&](std::int32_t s) {
    return (offsets[s + 1] - offsets[s] + Device::ragged_block - 1) / Device::ragged_block;
  };
  for (std::int32_t s = 0; s < rows.count; ++s) rows.block_count += blocks(s);
  const auto* sentence = longest_first(tape, offsets, rows.count);
  auto* list = tape.device.tape_nodes.template array<std::int32_t>(2 * rows.block_count);
  for (auto* next = list; next < list + 2 * rows.block_count; ++sentence)
    for (std::int32_t b = 0; b < blocks(*sentence); ++b) *next++ = *sentence, *next++ = b;
  rows.blocks = tape.upload(list, 2 * rows.block_count);
}

template <class Device>
Ragged upload_offsets(Tape<Device>& tape, const std::int32_t* offsets, Index count) {
  const std::int32_t* copy = tape.upload(offsets, count + 1);
  Ragged rows{copy, copy + 1, count, offsets[count], 0};
  for (Index i = 0; i < count; ++i) rows.longest = std::max<Index>(rows.longest, offsets[i + 1] - offsets[i]);
  if constexpr (Device::ragged_block > 0) upload_blocks(tape, offsets, rows);
  return rows;
}

template <class Device>
Text upload(Tape<Device>& tape, const Sentences& sentences) {
  Text text;
  const auto count = static_cast<Index>(sentences.tokens.size());
  text.tokens = tape.upload(sentences.tokens.data(), count);
  text.rows = upload_offsets(tape, sentences.offsets.data(), sentences.size());
  auto* offsets = tape.device.tape_nodes.template array<std::int32_t>(sentences.size() + 1);
  std::copy_n(sentences.offsets.data(), sentences.size() + 1, offsets);
  text.offsets = text.rows.offsets_on_host = offsets;
  auto* tokens = tape.device.tape_nodes.template array<Token>(count);
  std::copy_n(sentences.tokens.data(), count, tokens);
  text.tokens_on_host = tokens;
  text.include(sentences.tokens);
  return text;
}

/// Uploads tokens as one sentence, or as one label per row of logits.
template <class Device>
Text upload(Tape<Device>& tape, const std::vector<Token>& tokens) {
  Sentences one;
  one.push_back(tokens);
  return upload(tape, one);
}

/// The offsets of the sentences' begins and ends, on the host.
std::array<std::vector<std::int32_t>, 2> offsets_on_host(auto& device, const Ragged& rows) {
  std::array<std::vector<std::int32_t>, 2> both;
  for (std::size_t i = 0; i < 2; ++i) {
    both[i].resize(static_cast<std::size_t>(rows.count));
    if (rows.offsets_on_host != nullptr)  // avoids waiting for the device
      std::copy_n(rows.offsets_on_host + i, rows.count, both[i].begin());
    else
      device.download(both[i].data(), i == 0 ? rows.begin : rows.end, rows.count);
  }
  return both;
}

/// The layout of a text without each sentence's last row: the rows that self-attention over past states may see.
Ragged all_but_last(auto& tape, const Text& text) {
  auto* end = tape.device.tape_nodes.template array<std::int32_t>(text.rows.count);
  Ragged rows{text.rows.begin, nullptr, text.rows.count};
  for (Index i = 0; i < text.rows.count; ++i) {
    end[i] = std::max(text.offsets[i], text.offsets[i + 1] - 1);
    rows.rows += end[i] - text.offsets[i];
    rows.longest = std::max<Index>(rows.longest, end[i] - text.offsets[i]);
  }
  rows.end = tape.upload(end, text.rows.count);
  return rows;
}

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
