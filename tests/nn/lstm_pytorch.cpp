#include <doctest/doctest.h>

#include <filesystem>

#include "attn/checkpoint/safetensors.hpp"
#include "attn/core/parameters.hpp"
#include "attn/cpu.hpp"
#include "attn/nn/lstm.hpp"
#include "support/tape.hpp"

// attn's layers against torch.nn.LSTM over packed sequences: tests/files/lstm.safetensors, which
// tests/python/reference.py wrote.

using namespace attn;

namespace {

const SafetensorsFile& file() {
  static const SafetensorsFile all(std::filesystem::path(ATTN_TEST_FILES) / "lstm.safetensors");
  return all;
}
Numbers numbers(const std::string& name) {
  const TensorView& tensor = file()[name];
  const auto* first = static_cast<const double*>(tensor.bytes);
  return Numbers(first, first + tensor.elements());
}
std::vector<std::int32_t> integers(const std::string& name) {
  const TensorView& tensor = file()[name];
  const auto* first = static_cast<const std::int64_t*>(tensor.bytes);
  return std::vector<std::int32_t>(first, first + tensor.elements());
}

constexpr int kIn = 3, kWidth = 4;

/// "1.backward.bias" or "1.bias" is PyTorch's "1.1.bias" or "1.0.bias".
std::string reference_name(std::string name) {
  const auto layer = name.substr(0, name.find('.')), kind = name.substr(name.rfind('.') + 1);
  return layer + (name.find("backward") != std::string::npos ? ".1." : ".0.") + kind;
}

/// Every number that a stack of layers gives, forward and backward, against the reference.
template <class T, int Layers, template <class, int, int> class Layer>
void compare(const std::string& name, bool states, double tolerance) {
  CAPTURE(name);
  using Device = Cpu<T>;
  Device device(2);
  LstmStack<Device, kIn, kWidth, Layers, Layer> stack;
  Parameters<Device> parameters(device, stack, 1);
  for (const auto& entry : parameters.entries()) {
    const Numbers values = numbers(name + "/parameter/" + reference_name(entry.name));
    parameters.write(entry, std::vector<T>(values.begin(), values.end()));
  }
  const auto offsets = integers(name + "/offsets");
  const Index count = static_cast<Index>(offsets.size()) - 1;
  const auto layer_of = [&](const std::string& what, std::size_t layer) {  // [layer, sentence, width]
    const Numbers all = numbers(name + "/" + what);
    const auto size = static_cast<std::ptrdiff_t>(count * kWidth), first = static_cast<std::ptrdiff_t>(layer) * size;
    return Numbers(all.begin() + first, all.begin() + first + size);
  };

  Tape<Device> tape(device, TapeMode::gradients());
  const auto x = input<kIn>(tape, numbers(name + "/x"));
  std::vector<LstmState<Device, kWidth>> initial;
  for (std::size_t i = 0; states && i < Layers; ++i)
    initial.push_back({input<kWidth>(tape, layer_of("h0", i)), input<kWidth>(tape, layer_of("c0", i))});
  const TimeMajor layout = time_major(tape, upload_offsets(tape, offsets.data(), count), offsets.data());
  const auto y = stack(x, layout, initial);

  CHECK(distance(values(tape, y.h), numbers(name + "/y")) <= tolerance);
  contribute(tape, y.h, numbers(name + "/gradient/y"));
  for (std::size_t i = 0; i < Layers; ++i) {
    CHECK(distance(values(tape, y.last[i].h), layer_of("last_h", i)) <= tolerance);
    CHECK(distance(values(tape, y.last[i].c), layer_of("last_c", i)) <= tolerance);
    contribute(tape, y.last[i].h, layer_of("gradient/last_h", i));
    contribute(tape, y.last[i].c, layer_of("gradient/last_c", i));
  }
  tape.backward();
  CHECK(distance(gradient(tape, x), numbers(name + "/gradient/x")) <= tolerance);
  for (std::size_t i = 0; states && i < Layers; ++i) {
    CHECK(distance(gradient(tape, initial[i].h), layer_of("gradient/h0", i)) <= tolerance);
    CHECK(distance(gradient(tape, initial[i].c), layer_of("gradient/c0", i)) <= tolerance);
  }
  for (const auto& entry : parameters.entries()) {
    CAPTURE(entry.name);
    const auto found = parameters.read_gradient(entry);
    CHECK(distance(Numbers(found.begin(), found.end()),
                   numbers(name + "/gradient/parameter/" + reference_name(entry.name))) <= tolerance);
  }
}

template <class T>
inline constexpr double kTolerance = sizeof(T) == 8 ? 1e-9 : 1e-5;

}  // namespace

TEST_CASE_TEMPLATE("lstm: unidirectional layers match torch.nn.LSTM", T, float, double) {
  compare<T, 1, Lstm>("uni1", false, kTolerance<T>);
  compare<T, 1, Lstm>("uni1_states", true, kTolerance<T>);
  compare<T, 3, Lstm>("uni3_states", true, kTolerance<T>);
}

TEST_CASE_TEMPLATE("lstm: bidirectional layers match torch.nn.LSTM", T, float, double) {
  compare<T, 1, BidirectionalLstm>("bi1", false, kTolerance<T>);
  compare<T, 2, BidirectionalLstm>("bi2_states", true, kTolerance<T>);
  compare<T, 3, BidirectionalLstm>("bi3", false, kTolerance<T>);
}
