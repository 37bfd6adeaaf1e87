// refused: static assertion failed: attn: no backend: include <attn/cpu.hpp> or <attn/cuda.cuh>
#include "attn/ops/scatter_rows.hpp"
#include "device.hpp"

#ifndef ATTN_REFUSED
void scatter_rows(Device&, const attn::ScatterRowsArgs<Device>&);  // of the device's own
#endif

void run(Device& device, attn::Matrix<const float> from, const std::int32_t* row, attn::Matrix<float> to) {
  using attn::scatter_rows;
  scatter_rows(device, attn::ScatterRowsArgs<Device>{.from = from, .row = row, .to = to});
}
