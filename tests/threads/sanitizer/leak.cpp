// What the address sanitizer says of OpenMP's threads: nothing, or, with any argument, that a block of each was never freed.
#include "support/openmp_threads.hpp"

int main(int count, char**) {
  start_openmp_threads();
  long sum = 0;
#pragma omp parallel num_threads(8) reduction(+ : sum)
  {
    const volatile int* const number = new int(1);
    sum += *number;
    if (count == 1) delete number;
  }
  return sum == 8 ? 0 : 2;
}
