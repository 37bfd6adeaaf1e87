#include <doctest/doctest.h>

#include "attn/cpu.hpp"
#include "attn/tape/tape.hpp"
#include "support/tape.hpp"

using attn::TapeMode;
using Device = attn::Cpu<double>;
using Tape = attn::Tape<Device>;

namespace {

/// (2x, 3x) as one function of two results, which notes which gradients it got.
auto twice_and_thrice(attn::Variable<Device> x, int* runs) {
  Tape& tape = x.tape();
  auto two = tape.make(x.rows(), 1), three = tape.make(x.rows(), 1);
  for (attn::Index i = 0; i < x.rows(); ++i) two.value(i, 0) = 2 * x.value(i, 0), three.value(i, 0) = 3 * x.value(i, 0);
  tape.on_backward(std::array{two, three}, [x, runs](Tape& back, auto dtwo, auto dthree) {
    ++*runs;
    const auto dx = back.sink(x);
    for (attn::Index i = 0; i < x.rows(); ++i)
      dx.put(dx.to(i, 0), (dtwo.empty() ? 0 : 2 * dtwo(i, 0)) + (dthree.empty() ? 0 : 3 * dthree(i, 0)));
  });
  return std::pair{two, three};
}

}  // namespace

TEST_CASE("several results: a function gets the gradients of all used results in one call") {
  Device device(1);
  for (const int used : {1, 2, 3}) {
    CAPTURE(used);
    int runs = 0;
    Tape tape(device, TapeMode::gradients());
    const auto x = input<1>(tape, {5, 7});
    const auto [two, three] = twice_and_thrice(x, &runs);
    if (used & 1) contribute(tape, two, {1, 10});
    if (used & 2) contribute(tape, three, {100, 1000});
    tape.backward();
    CHECK(runs == 1);
    const Numbers expected[] = {{}, {2, 20}, {300, 3000}, {302, 3020}};
    CHECK(gradient(tape, x) == expected[used]);
  }
}

TEST_CASE("several results: result gradients are freed and many functions use no more memory than one") {
  Device device(1);
  const auto run = [&](int functions) {
    int runs = 0;
    {
      Tape tape(device, TapeMode::gradients());
      attn::Variable<Device> x = input<1>(tape, Numbers(100000, 1));
      for (int i = 0; i < functions; ++i) x = twice_and_thrice(x, &runs).second;
      contribute(tape, x, Numbers(100000, 1));
      tape.backward();
    }
    CHECK(runs == functions);
    return device.gradients.capacity();
  };
  const auto two = run(2);
  CHECK(run(20) == two);
}
