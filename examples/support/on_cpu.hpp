#pragma once
#include "attn/cpu/device.hpp"
#include "place.hpp"

/// The CPU that a place names; or so many of its threads.
inline attn::CpuOptions on_cpu(const Place& place, int threads) {
  return {.threads = threads, .bfloat16_products = place.precision == "bf16"};
}
inline attn::CpuOptions on_cpu(const Place& place) { return on_cpu(place, place.threads); }
