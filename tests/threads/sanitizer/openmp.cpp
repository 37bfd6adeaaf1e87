// What the thread sanitizer must be able to tell apart: loops of OpenMP whose threads keep to their own places, and, with an
// argument, one whose threads share a number.
#include <cstdio>
#include <vector>

int main(int count, char**) {
  std::vector<int> places(1000);
  long shared = 0, sum = 0;
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel for num_threads(2) schedule(dynamic)
    for (int i = 0; i < 1000; ++i) {
      places[static_cast<std::size_t>(i)] += i;
      if (count > 1) shared += i;
    }
    for (const int place : places) sum += place;
  }
  std::printf("%ld %ld\n", sum, shared);
}
