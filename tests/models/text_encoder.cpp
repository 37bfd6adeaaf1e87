#include "attn/models/text_encoder.hpp"

#include <doctest/doctest.h>

#include <string>

#include "attn/transformer.hpp"

using namespace attn;
using Device = Cpu<double>;

namespace {
constexpr TransformerShape shape{.encoder_layers = 2, .decoder_layers = 1, .width = 8, .heads = 2, .inner = 16};
}

TEST_CASE("text encoder: equals the encoder of a Transformer") {
  Device device;
  Transformer<Device, shape> whole({.source_vocabulary = 9, .target_vocabulary = 9});
  TextEncoder<Device, shape> part({.vocabulary = 9});
  Parameters<Device> of_whole(device, whole, 1), of_part(device, part, 2);
  for (const auto& entry : of_part.entries()) {
    const std::string name = entry.name == "embedding.table" ? "source_embedding.table" : entry.name;
    of_part.write(entry, of_whole.read(of_whole.find(name)));
  }
  const Sentences text{{1, 2, 3, 4}, {}, {5}};
  Tape<Device> tape(device);
  const auto expected = whole.encode(tape, upload(tape, text)), states = part(tape, upload(tape, text));
  REQUIRE(states.rows() == 5);
  for (Index i = 0; i < 5; ++i)
    for (Index j = 0; j < shape.width; ++j) CHECK(states.value(i, j) == expected.value(i, j));
}
