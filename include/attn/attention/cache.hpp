#pragma once
#include <algorithm>

#include "attn/ops/scatter_rows.hpp"
#include "attn/tape/attention.hpp"

namespace attn {

/// The layout that all caches of a decoder share: each sentence has a place with room for `capacity` rows. Sentences that
/// have ended leave the batch by leaving the layout; nothing moves.
struct CacheLayout {
  Ragged rows;                           // of the sentences still alive: what is filled, the newest row included
  const std::int32_t* newest = nullptr;  // the row each sentence's newest position goes to
  Index places = 0, capacity = 0;

  /// The rows without the newest: what went before it.
  Ragged earlier() const {
    return {rows.begin, newest, rows.count, rows.rows - rows.count, std::max<Index>(rows.longest - 1, 0)};
  }
};

/// Keys and values of the positions a decoder has been through. Decoding only: it keeps no gradients.
template <class Device, int Width, int Value = Width>
struct KeyValueCache {
  using Scalar = typename Device::Scalar;

  Matrix<Scalar> keys;    // (places * capacity) x Width
  Matrix<Scalar> values;  // (places * capacity) x Value
  const CacheLayout* layout = nullptr;

  /// Room in the memory of a tape that outlives the steps.
  KeyValueCache(Tape<Device>& tape, const CacheLayout& shared)
      : keys(room(tape, shared, Width)), values(room(tape, shared, Value)), layout(&shared) {}

  /// Puts each sentence's newest row behind its others, and returns them all.
  KeysValues<Device, Width, Value> append(Tape<Device>& tape, KeysValues<Device, Width, Value> newest) {
    require(!tape.recording(), "KeyValueCache: a cache is for decoding, on a tape that does not record");
    scatter_rows(tape.device, {.from = newest.keys.value, .row = layout->newest, .to = keys});
    scatter_rows(tape.device, {.from = newest.values.value, .row = layout->newest, .to = values});
    return {{keys}, {values}, layout->rows};
  }

 private:
  static Matrix<Scalar> room(Tape<Device>& tape, const CacheLayout& shared, Index width) {
    const Index rows = shared.places * shared.capacity;
    return {tape.template array<Scalar>(rows * width), rows, width};
  }
};

}  // namespace attn
