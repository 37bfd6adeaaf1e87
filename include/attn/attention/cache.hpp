#pragma once
#include <algorithm>

#include "attn/ops/gather_rows.hpp"
#include "attn/ops/scatter_rows.hpp"
#include "attn/tape/attention.hpp"

namespace attn {

/// The layout that all caches of a decoder share: each sentence has a place with room for `capacity` rows. Sentences that
/// have ended leave the batch by leaving the layout; nothing moves. A sentence that goes on twice has its rows copied to a
/// second place.
struct CacheLayout {
  Ragged rows;                           // of the active sentences: what is filled, the newest row included
  const std::int32_t* newest = nullptr;  // the row each sentence's newest position goes to
  Index places = 0, capacity = 0;
  Index copies = 0;  // rows to copy before the newest are appended: to places that no sentence of the step before has now
  const std::int32_t *copy_from = nullptr, *copy_to = nullptr;

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

  /// Puts each sentence's newest row after its others, and returns them all. Once a step.
  KeysValues<Device, Width, Value> append(Tape<Device>& tape, KeysValues<Device, Width, Value> newest) {
    require(!tape.recording(), "KeyValueCache: a cache is for decoding, on a tape that does not record");
    if (layout->copies > 0) copy(tape, keys), copy(tape, values);
    scatter_rows(tape.device, {.from = newest.keys.value, .row = layout->newest, .to = keys});
    scatter_rows(tape.device, {.from = newest.values.value, .row = layout->newest, .to = values});
    return {{keys}, {values}, layout->rows};
  }

 private:
  void copy(Tape<Device>& tape, Matrix<Scalar> cache) const {
    const Matrix<Scalar> rows(tape.template array<Scalar>(layout->copies * cache.cols), layout->copies, cache.cols);
    gather_rows(tape.device, {.from = cache, .row = layout->copy_from, .to = rows});
    scatter_rows(tape.device, {.from = rows, .row = layout->copy_to, .to = cache});
  }
  static Matrix<Scalar> room(Tape<Device>& tape, const CacheLayout& shared, Index width) {
    const Index rows = shared.places * shared.capacity;
    return {tape.template array<Scalar>(rows * width), rows, width};
  }
};

}  // namespace attn
