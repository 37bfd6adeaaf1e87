// From C++ to Python: saves a model as safetensors, every parameter under its name in the model. The script
// 05_read_in_python.py puts the encoder's weights into PyTorch's own layers and gets the same states.
//
//   05_loading_into_python [model.safetensors]

#include <filesystem>
#include <iostream>
#include <sstream>

#include "attn/train/checkpoint.hpp"
#include "attn/transformer.hpp"

using namespace attn;

constexpr TransformerShape shape{.encoder_layers = 2, .decoder_layers = 1, .width = 32, .heads = 4, .inner = 64};

using Host = Cpu<float>;
using Model = Transformer<Host, shape>;

/// The encoder's state of the sentence's last token.
std::vector<float> encode(Host& device, const Model& model, const Sentences& sentence) {
  Tape<Host> tape(device);
  const auto states = model.encode(tape, upload(tape, sentence));
  std::vector<float> last(shape.width);
  device.download(last.data(), states.value.row(states.rows() - 1), shape.width);
  return last;
}

int main(int count, char** words) {
  const std::filesystem::path path =
      count > 1 ? words[1] : std::filesystem::temp_directory_path() / "attn_model.safetensors";
  Host device;
  Network<Model> network(device, {.source_vocabulary = 100, .target_vocabulary = 100}, 1);
  const auto& parameters = network.parameters;
  const Sentences sentence{{31, 41, 59, 26, 53}};
  const std::vector<float> state = encode(device, *network, sentence);

  std::ostringstream numbers;
  for (const float number : state) numbers << number << ' ';
  save_model(path, parameters,
             {{"heads", std::to_string(shape.heads)}, {"tokens", "31 41 59 26 53"}, {"state", numbers.str()}});
  std::cout << parameters.count() << " numbers in " << parameters.entries().size() << " tensors, written to "
            << path.string() << "\nthe encoder's state begins " << state[0] << " " << state[1] << " " << state[2]
            << "\n\nIn Python:\n\n"
            << "  from safetensors.numpy import load_file\n"
            << "  tensors = load_file(\"" << path.string() << "\")\n"
            << "  tensors[\"encoder.layers.0.attention.in.weight\"].shape   # (96, 32): queries, keys, values\n\n"
            << "and, with PyTorch: python3 examples/05_read_in_python.py " << path.string() << "\n";

  // The way back: another model of the same type has its own weights at first, the file's after.
  Network<Model> other(device, {.source_vocabulary = 100, .target_vocabulary = 100}, 2);
  const bool differs = encode(device, *other, sentence) != state;
  load_model(SafetensorsFile(path), other.parameters);
  return differs && encode(device, *other, sentence) == state ? 0 : 1;
}
