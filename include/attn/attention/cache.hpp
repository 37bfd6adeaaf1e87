#pragma once
#include <algorithm>

#include "attn/ops/copy_rows.hpp"
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

/// Keys and values of the positions a decoder has been through, side by side. Decoding only: it keeps no gradients.
template <class Device, int Width, int Value = Width>
struct KeyValueCache {
  using Scalar = typename Device::Scalar;

  Matrix<Scalar> rows;  // (places * capacity) x (Width + Value)
  const CacheLayout* layout = nullptr;

  /// Room in the memory of a tape that outlives the steps.
  KeyValueCache(Tape<Device>& tape, const CacheLayout& shared)
      : rows(room(tape, shared.places * shared.capacity)), layout(&shared) {}

  /// Puts each sentence's newest row after its others, and returns them all. Once a step.
  KeysValues<Device, Width, Value> append(Tape<Device>& tape, KeysValues<Device, Width, Value> newest) {
    require(!tape.recording(), "KeyValueCache: a cache is for decoding, on a tape that does not record");
    if (layout->copies > 0)
      copy_rows(tape.device, {.rows = rows, .from = layout->copy_from, .to = layout->copy_to, .count = layout->copies});
    const Matrix<const Scalar> key = newest.keys.value, value = newest.values.value;
    const auto put = [&](Matrix<const Scalar> from, Matrix<Scalar> to) {
      scatter_rows(tape.device, {.from = from, .row = layout->newest, .to = to, .appends = layout->copies == 0});
    };
    if (value.data == key.data + Width && value.stride == key.stride)  // cut from one product: one matrix
      put({key.data, key.rows, Width + Value, key.stride}, rows);
    else
      put(key, keys()), put(value, values());
    return {{keys()}, {values()}, layout->rows};
  }

 private:
  Matrix<Scalar> keys() const { return rows.columns(0, Width); }
  Matrix<Scalar> values() const { return rows.columns(Width, Value); }

  static Matrix<Scalar> room(Tape<Device>& tape, Index count) {
    return {tape.template array<Scalar>(count * (Width + Value)), count, Width + Value};
  }
};

}  // namespace attn
