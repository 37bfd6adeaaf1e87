#include "attn/core/memory.hpp"

#include <doctest/doctest.h>

#include "attn/cpu/device.hpp"

using attn::Index;
using attn::Matrix;
using Device = attn::Cpu<double>;

namespace {

struct Filling {
  int* times;
  void operator()(Device&, Matrix<double> table) const {
    ++*times;
    for (Index p = 0; p < table.rows; ++p)
      for (Index j = 0; j < table.cols; ++j) table(p, j) = static_cast<double>(100 * p + j);
  }
};

}  // namespace

TEST_CASE("position tables: each width is computed once and again only for longer sentences") {
  Device device(1);
  int times = 0;
  const auto get = [&](Index width, Index length) { return device.positions.get(device, width, length, Filling{&times}); };
  const auto table = get(4, 10);
  CHECK(table.rows == 10);
  CHECK(table.cols == 4);
  CHECK(table(9, 3) == 903);
  CHECK(get(4, 300).data == table.data);
  CHECK(times == 1);
  CHECK(get(6, 3)(2, 5) == 205);
  CHECK(times == 2);
  CHECK(get(4, 2000)(1999, 0) == 199900);
  CHECK(times == 3);
  CHECK(get(4, 10)(9, 3) == 903);
  CHECK(get(6, 512)(511, 0) == 51100);
  CHECK(times == 3);
}
