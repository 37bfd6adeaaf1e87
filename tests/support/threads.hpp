#pragma once
#include <doctest/doctest.h>

#include "attn/cpu/device.hpp"
#include "support/tensor.hpp"

/// Checks that run(device), which returns the results of an op, gives the same bits with 1, 2 and 3 threads.
template <class T, class Run>
void check_threads(const Run& run) {
  attn::Cpu<T> one(1), two(2), three(3);
  const Numbers expected = run(one);
  CHECK(distance(expected, expected) == 0);  // no NaN: everything was computed
  CHECK_MESSAGE(same_bits(run(two), expected), "2 threads differ by ", distance(run(two), expected));
  CHECK_MESSAGE(same_bits(run(three), expected), "3 threads differ by ", distance(run(three), expected));
}
