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

/// queries, keys: lengths; heads, head_width, causal, dropout; spare: rows behind each sentence's keys that belong to none;
/// gap; bound: of queries and keys; add: to what the gradients' places hold.
template <class Device>
Results attention_case(Device& device, const OpCase& test, Precision precision) {
  const auto query_lengths = test.lengths("queries"), key_lengths = test.lengths("keys");
  const attn::Index heads = test.size("heads", 1), width = heads * test.size("head_width"), gap = test.size("gap");
  const auto spare = static_cast<std::int32_t>(test.size("spare"));
  const bool add = test.flag("add");
  const double bound = test.number("bound", 1);
  const Layout<Device> queries(device, query_lengths), keys(device, key_lengths, spare);
  std::vector<bool> keys_in_use;
  for (const std::int32_t length : key_lengths) {
    keys_in_use.insert(keys_in_use.end(), static_cast<std::size_t>(length), true);
    keys_in_use.insert(keys_in_use.end(), static_cast<std::size_t>(spare), false);
  }
  const auto of_queries = [&](const Numbers& numbers) {
    return Activations<Device>(device, queries.rows(), width, numbers, gap);
  };
  const auto of_keys = [&](const Numbers& numbers) {
    return Activations<Device>(device, keys.rows(), width, numbers, gap, keys_in_use);
  };
  const auto query_numbers = [&](std::uint64_t stream, double limit) {
    return operand(queries.rows() * width, stream, precision, limit);
  };
  const auto key_numbers = [&](std::uint64_t stream, double limit) {
    return operand(keys.rows() * width, stream, precision, limit);
  };

  const auto q = of_queries(query_numbers(1, bound)), dy = of_queries(query_numbers(4, 1));
  const auto k = of_keys(key_numbers(2, bound)), v = of_keys(key_numbers(3, 1));
  const auto compute = [&](attn::Ragged query_rows, attn::Ragged key_rows) -> Results {
    const auto y = of_queries({});
    const Reals<Device> lse(device, queries.rows(), heads);
    const attn::AttentionArgs<Device> forward{.q = q,
                                              .k = k,
                                              .v = v,
                                              .queries = query_rows,
                                              .keys = key_rows,
                                              .heads = static_cast<int>(heads),
                                              .scale = 1 / std::sqrt(static_cast<double>(width / heads)),
                                              .causal = test.flag("causal"),
                                              .dropout = dropout_of(test),
                                              .y = y,
                                              .lse = lse.data()};
    attention(device, forward);

    const auto dq = of_queries(add ? query_numbers(5, 1) : Numbers{});
    const auto dk = of_keys(add ? key_numbers(6, 1) : Numbers{}), dv = of_keys(add ? key_numbers(7, 1) : Numbers{});
    attention_gradient(device, {.forward = forward, .dy = dy, .dq = {dq, add}, .dk = {dk, add}, .dv = {dv, add}});
    return {{"y", y.read("y")},
            // A maximum, an exponential and a logarithm of float hardware, each good to two units.
            {.name = "lse", .numbers = lse.read("lse"), .in_float = true, .floor = 0x1p-21},
            {"dq", dq.read("dq")},
            {"dk", dk.read("dk")},
            {"dv", dv.read("dv")}};
  };

  const Results results = compute(queries, keys);
  if constexpr (Device::ragged_block > 0) {
    attn::Tape<Device> tape(device);
    const auto listed = compute(with_blocks(tape, queries, query_lengths),
                                spare == 0 ? with_blocks(tape, keys, key_lengths) : attn::Ragged(keys));
    for (std::size_t i = 0; i < results.size(); ++i)
      attn::require(same_bits(listed[i].numbers, results[i].numbers), "a list of its blocks changes attention's ",
                    results[i].name);
  }
  return results;
}
