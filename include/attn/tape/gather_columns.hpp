#pragma once
#include "attn/tape/arithmetic.hpp"
#include "attn/tape/gather_rows.hpp"
#include "attn/tape/reshape.hpp"
#include "attn/tape/text.hpp"

namespace attn {

/// One element of each row, in the column that its token names: x[i, tokens[i]]. torch.gather(x, 1, tokens[:, None]).
template <Activation X>
auto gather_columns(const X& of, const Text& tokens) {
  using Device = typename X::DeviceType;
  const Variable<Device> x = evaluated(of);
  Tape<Device>& tape = x.tape();
  const Index rows = x.rows(), cols = x.cols();
  require(tokens.rows.rows == rows, "gather_columns: ", tokens.rows.rows, " tokens for ", rows, " rows. Pass one per row.");
  require(tokens.smallest >= 0 && tokens.largest < cols, "gather_columns: column ",
          tokens.smallest < 0 ? tokens.smallest : tokens.largest, " is out of range: there are ", cols, " columns");
  require(rows * cols <= std::numeric_limits<std::int32_t>::max(), "gather_columns: ", rows, " x ", cols,
          " are more than 2^31 - 1 numbers. Use smaller batches.");
  require(rows == 0 || tokens.tokens_on_host != nullptr, "gather_columns: the tokens are not on the host. Use upload.");
  auto* element = tape.device.tape_nodes.template array<std::int32_t>(rows);
  for (Index i = 0; i < rows; ++i) element[i] = static_cast<std::int32_t>(i * cols + tokens.tokens_on_host[i]);
  return Variable<Device, 1>(gather_rows(reshape(x, rows * cols, 1), tape.upload(element, rows), rows));
}

}  // namespace attn
