#pragma once
#include "attn/ops/attention.hpp"
#include "attn/tape/embedding.hpp"
#include "cuda/guarded.hpp"

/// A packed layout with the list of its blocks, which models make.
template <class Device>
attn::Ragged with_blocks(attn::Tape<Device>& tape, attn::Ragged rows, const std::vector<std::int32_t>& lengths) {
  std::vector<std::int32_t> offsets{0};
  for (const std::int32_t length : lengths) offsets.push_back(offsets.back() + length);
  upload_blocks(tape, offsets.data(), rows);
  return rows;
}

/// The rows of a case of attention. queries, keys: lengths; spare: rows after each sentence's keys that belong to none; gap.
template <class Device>
struct AttentionRows {
  Device& device;
  Precision precision;
  attn::Index gap;
  std::int32_t spare;
  std::vector<std::int32_t> query_lengths, key_lengths;
  Layout<Device> queries, keys;
  std::vector<bool> keys_in_use = {};

  AttentionRows(Device& on, const OpCase& test, Precision in)
      : device(on),
        precision(in),
        gap(test.size("gap")),
        spare(static_cast<std::int32_t>(test.size("spare"))),
        query_lengths(test.lengths("queries")),
        key_lengths(test.lengths("keys")),
        queries(on, query_lengths),
        keys(on, key_lengths, spare) {
    for (const std::int32_t length : key_lengths) {
      keys_in_use.insert(keys_in_use.end(), static_cast<std::size_t>(length), true);
      keys_in_use.insert(keys_in_use.end(), static_cast<std::size_t>(spare), false);
    }
  }

  /// A matrix with a row a query or a key, of the numbers of a stream; of none where the stream is 0.
  Activations<Device> of_queries(attn::Index width, std::uint64_t stream, double bound = 1) const {
    return {device, queries.rows(), width, numbers(queries.rows() * width, stream, bound), gap};
  }
  Activations<Device> of_keys(attn::Index width, std::uint64_t stream, double bound = 1) const {
    return {device, keys.rows(), width, numbers(keys.rows() * width, stream, bound), gap, keys_in_use};
  }
  /// The same rows in the opposite order, and the list that says where each is.
  Activations<Device> of_keys_turned(attn::Index width, std::uint64_t stream, double bound = 1) const {
    const Numbers straight = numbers(keys.rows() * width, stream, bound);
    Numbers turned;
    for (auto row = straight.end(); row != straight.begin(); row -= width) turned.insert(turned.end(), row - width, row);
    return {device, keys.rows(), width, turned, gap, {keys_in_use.rbegin(), keys_in_use.rend()}};
  }
  Integers<Device> list_of_turned() const {
    std::vector<std::int32_t> list;
    for (attn::Index i = keys.rows(); i > 0; --i) list.push_back(static_cast<std::int32_t>(i - 1));
    return {device, list};
  }

 private:
  Numbers numbers(attn::Index count, std::uint64_t stream, double bound) const {
    return stream > 0 ? operand(count, stream, precision, bound) : Numbers{};
  }
};

/// A step of a decoder gives the same bits where its keys lie in another order and are listed.
template <class Device>
void check_listed_keys(const AttentionRows<Device>& rows, const OpCase& test, const Results& straight) {
  const attn::Index heads = test.size("heads", 1), head_width = test.size("head_width"), width = heads * head_width,
                    values = heads * test.size("value_width", head_width);
  const double bound = test.number("bound", 1);
  const auto q = rows.of_queries(width, 1, bound), y = rows.of_queries(values, 0);
  const auto k = rows.of_keys_turned(width, 2, bound), v = rows.of_keys_turned(values, 3);
  const Reals<Device> lse(rows.device, rows.queries.rows(), heads);
  const auto list = rows.list_of_turned();
  attn::AttentionArgs<Device> args{.q = q,
                                   .k = k,
                                   .v = v,
                                   .queries = rows.queries,
                                   .keys = rows.keys,
                                   .heads = static_cast<int>(heads),
                                   .scale = 1 / std::sqrt(static_cast<double>(head_width)),
                                   .causal = test.flag("causal"),
                                   .dropout = dropout_of(test),
                                   .y = y,
                                   .lse = lse.data()};
  args.keys.row_indices = list.data();
  if (!may_list_keys(args)) return;
  attention(rows.device, args);
  attn::require(same_bits(y.read("y"), straight[0].numbers) && same_bits(lse.read("lse"), straight[1].numbers),
                "keys that are listed change attention");
}

/// heads, head_width, value_width: of a head; causal, dropout; bound: of queries and keys; add: to what the gradients' places hold.
template <class Device>
Results attention_case(Device& device, const OpCase& test, Precision precision) {
  const AttentionRows<Device> rows(device, test, precision);
  const attn::Index heads = test.size("heads", 1), head_width = test.size("head_width"), width = heads * head_width,
                    values = heads * test.size("value_width", head_width);
  const bool add = test.flag("add");
  const double bound = test.number("bound", 1);

  const auto q = rows.of_queries(width, 1, bound), dy = rows.of_queries(values, 4);
  const auto k = rows.of_keys(width, 2, bound), v = rows.of_keys(values, 3);
  const auto compute = [&](attn::Ragged query_rows, attn::Ragged key_rows) -> Results {
    const auto y = rows.of_queries(values, 0);
    const Reals<Device> lse(device, rows.queries.rows(), heads);
    const attn::AttentionArgs<Device> forward{.q = q,
                                              .k = k,
                                              .v = v,
                                              .queries = query_rows,
                                              .keys = key_rows,
                                              .heads = static_cast<int>(heads),
                                              .scale = 1 / std::sqrt(static_cast<double>(head_width)),
                                              .causal = test.flag("causal"),
                                              .dropout = dropout_of(test),
                                              .y = y,
                                              .lse = lse.data()};
    attention(device, forward);

    const auto dq = rows.of_queries(width, add ? 5 : 0);
    const auto dk = rows.of_keys(width, add ? 6 : 0), dv = rows.of_keys(values, add ? 7 : 0);
    attention_gradient(device, {.forward = forward, .dy = dy, .dq = {dq, add}, .dk = {dk, add}, .dv = {dv, add}});
    return {{"y", y.read("y")},
            // A maximum, an exponential and a logarithm of float hardware, each good to two units.
            {.name = "lse", .numbers = lse.read("lse"), .in_float = true, .floor = 0x1p-21},
            {"dq", dq.read("dq")},
            {"dk", dk.read("dk")},
            {"dv", dv.read("dv")}};
  };

  const Results results = compute(rows.queries, rows.keys);
  check_listed_keys(rows, test, results);
  if constexpr (Device::ragged_block > 0) {
    attn::Tape<Device> tape(device);
    const auto listed = compute(with_blocks(tape, rows.queries, rows.query_lengths),
                                rows.spare == 0 ? with_blocks(tape, rows.keys, rows.key_lengths) : attn::Ragged(rows.keys));
    for (std::size_t i = 0; i < results.size(); ++i)
      attn::require(same_bits(listed[i].numbers, results[i].numbers), "a list of its blocks changes attention's ",
                    results[i].name);
  }
  return results;
}

/// heads, head_width, causal, bound.
template <class Device>
Results attention_weights_case(Device& device, const OpCase& test, Precision precision) {
  const AttentionRows<Device> rows(device, test, precision);
  const attn::Index heads = test.size("heads", 1), width = heads * test.size("head_width");
  const double bound = test.number("bound", 1);
  const auto q = rows.of_queries(width, 1, bound), y = rows.of_queries(width, 0);
  const auto k = rows.of_keys(width, 2, bound), v = rows.of_keys(width, 3);
  const Reals<Device> lse(device, rows.queries.rows(), heads),
      weights(device, heads * rows.queries.rows(), attn::Ragged(rows.keys).longest);
  const attn::AttentionArgs<Device> forward{.q = q,
                                            .k = k,
                                            .v = v,
                                            .queries = rows.queries,
                                            .keys = rows.keys,
                                            .heads = static_cast<int>(heads),
                                            .scale = 1 / std::sqrt(static_cast<double>(width / heads)),
                                            .causal = test.flag("causal"),
                                            .y = y,
                                            .lse = lse.data()};
  attention(device, forward);
  attention_weights(device, {forward, weights});
  return {{.name = "weights", .numbers = weights.read("weights"), .in_float = true, .floor = 0x1p-22}};
}
