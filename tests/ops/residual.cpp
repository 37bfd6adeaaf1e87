#include "attn/ops/residual.hpp"

#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "support/threads.hpp"

using attn::Cpu;
using attn::Index;

namespace {

template <class T>
Numbers summed(Cpu<T>& device, Index rows, Index cols, float rate) {
  const Tensor<Cpu<T>> x(device, rows, cols, random_numbers(rows * cols, 1), 1),
      branch(device, rows, cols, random_numbers(rows * cols, 2), 2), z(device, rows, cols, kUnset, 3);
  residual(device, {.x = x, .branch = branch, .dropout = {rate, attn::key_of_seed(1)}, .z = z});
  CHECK(z.outside_untouched());
  return z.read();
}

}  // namespace

TEST_CASE("residual adds the branch") {
  Cpu<double> device(2);
  CHECK(summed(device, 40, 7, 0) == sum_of(random_numbers(280, 1), random_numbers(280, 2)));
  CHECK(summed(device, 0, 7, 0).empty());
}

TEST_CASE("residual drops the branch and not what it is added to") {
  Cpu<double> device(2);
  const Numbers x = random_numbers(280, 1), branch = random_numbers(280, 2), z = summed(device, 40, 7, 0.5f);
  const attn::Dropout drop{0.5f, attn::key_of_seed(1)};
  for (Index i = 0; i < 40; ++i)
    for (Index j = 0; j < 7; ++j) {
      const auto at = static_cast<std::size_t>(i * 7 + j);
      const double factor = static_cast<double>(drop.row(i)(static_cast<std::uint32_t>(j)));
      CHECK(z[at] == doctest::Approx(x[at] + factor * branch[at]).epsilon(1e-14));
    }
}

TEST_CASE_TEMPLATE("residual gives the same bits with any number of threads", T, float, double) {
  check_threads<T>([](Cpu<T>& device) { return summed(device, 101, 33, 0.2f); });
}
