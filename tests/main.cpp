#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "support/openmp_threads.hpp"

int main(int count, char** arguments) {
  start_openmp_threads();
  return doctest::Context(count, arguments).run();
}
