#pragma once
#include "support/sanitizer.hpp"

#ifdef ATTN_TEST_ADDRESSES
#include <sanitizer/lsan_interface.h>

/// clang's OpenMP never frees a block of each thread that it starts. It starts all that tests need here, where nobody counts leaks, so
/// that those inside parallel regions are still found.
inline void start_openmp_threads() {
  const __lsan::ScopedDisabler nobody_counts;
  int threads = 0;
#pragma omp parallel num_threads(64) reduction(+ : threads)
  ++threads;
}
#else
inline void start_openmp_threads() {}
#endif
