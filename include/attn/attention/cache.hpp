#pragma once
#include <algorithm>

#include "attn/ops/move_rows.hpp"
#include "attn/tape/attention.hpp"
#include "attn/tape/embedding.hpp"

namespace attn {

/// The layout that all caches of a decoder share. Each sentence has a place with room for `capacity` rows. Finished
/// sentences leave the layout; nothing moves. If two hypotheses continue a sentence, its rows are copied to a second place.
struct CacheLayout {
  Ragged rows;                           // filled rows of the active sentences, with the newest
  const std::int32_t* newest = nullptr;  // the row of each sentence's newest position
  Index places = 0, capacity = 0;
  Index copies = 0;  // rows to copy before the newest are appended; sources and destinations do not overlap
  const std::int32_t *copy_from = nullptr, *copy_to = nullptr;
  FirstPositions positions;  // of each active row's newest token

  /// The rows before the newest.
  Ragged earlier() const {
    return {rows.begin, newest, rows.count, rows.rows - rows.count, std::max<Index>(rows.longest - 1, 0)};
  }
};

/// Keys and values of a decoder's past positions, concatenated. For decoding only: it keeps no gradients.
template <class Device>
struct KeyValueCache {
  using Scalar = typename Device::Scalar;

  Index key_width;
  Matrix<Scalar> rows;  // (places * capacity) x (key width + value width)
  const CacheLayout* layout = nullptr;

  /// Allocates from a tape that outlives the steps.
  KeyValueCache(Tape<Device>& tape, const CacheLayout& shared, Index keys, Index values)
      : key_width(keys), rows(allocate(tape, shared.places * shared.capacity, keys + values)), layout(&shared) {}

  /// Appends each sentence's newest row. Returns all rows as activations of the newest rows' tape. Call once per step.
  KeysValues<Device> append(KeysValues<Device> newest) {
    Tape<Device>& tape = newest.keys.tape();
    require(!tape.recording(), "KeyValueCache: the tape records gradients. Decode on a tape that does not record.");
    if (layout->copies > 0)
      copy_rows(tape.device, {.rows = rows, .from = layout->copy_from, .to = layout->copy_to, .count = layout->copies});
    const Matrix<const Scalar> key = newest.keys.value, value = newest.values.value;
    const auto put = [&](Matrix<const Scalar> from, Matrix<Scalar> to) {
      scatter_rows(tape.device, {.from = from, .row = layout->newest, .to = to, .appends = layout->copies == 0});
    };
    if (value.data == key.data + key_width && value.stride == key.stride)  // adjacent slices of one product
      put({key.data, key.rows, rows.cols, key.stride}, rows);
    else
      put(key, keys()), put(value, values());
    return {tape.constant(keys()), tape.constant(values()), layout->rows};
  }

 private:
  Matrix<Scalar> keys() const { return rows.columns(0, key_width); }
  Matrix<Scalar> values() const { return rows.columns(key_width, rows.cols - key_width); }

  static Matrix<Scalar> allocate(Tape<Device>& tape, Index count, Index width) {
    return {tape.template array<Scalar>(count * width), count, width};
  }
};

}  // namespace attn
