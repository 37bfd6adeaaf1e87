// Distillation: a teacher learns a task from labels, then a smaller student learns it from the teacher's probabilities
// alone, without a label. Both are the same type; their sizes are given at run time.

#include "attn/models/text_encoder.hpp"
#include "attn/nn/output.hpp"
#include "attn/tape/losses.hpp"
#include "attn/tape/reductions.hpp"
#include "toy_training.hpp"

using namespace attn;

constexpr Index kTokens = 12;

struct Reverser {
  using DeviceType = Device;
  using Options = TransformerShape;  // constructor argument
  TextEncoder<Device> encoder;
  Output<Device> output;

  explicit Reverser(const TransformerShape& shape)
      : encoder({.vocabulary = kTokens, .dropout = {.residual = 0}, .shape = shape}), output(kTokens, shape.width) {}
  Variable<Device> logits(Tape<Device>& tape, const Sentences& text) const {
    return output.logits(encoder(tape, upload(tape, text)));
  }
  void for_each_parameter(auto&& visit) { visit("encoder", encoder), visit("output", output); }
};

int main() {
  Device device;
  Network<Reverser> teacher(device, {.encoder_layers = 2, .width = 64, .heads = 4, .inner = 128}, 1);
  Network<Reverser> student(device, {.encoder_layers = 1, .width = 32, .heads = 2, .inner = 32}, 2);
  Adam teacher_adam(teacher), student_adam(student);
  Random random(3);
  constexpr double temperature = 2;
  double last = 0;
  for (std::uint64_t step = 1; step <= 700; ++step) {
    const auto [from, to] = SequencePairs(random, 8, kTokens, [](auto& tokens) { std::ranges::reverse(tokens); });
    const bool teaching = step > 300;
    Tape<Device> no_grad(device);  // does not record. It outlives the tape that reads its activations
    Variable<Device> probabilities;
    if (teaching) probabilities = softmax(teacher->logits(no_grad, from) / temperature);
    Tape<Device> tape(device, TapeMode::training(1, step));
    const Variable<Device> logits = (teaching ? student : teacher)->logits(tape, from);
    Loss<Device> loss = teaching ? temperature * temperature * kl_divergence(logits / temperature, probabilities)
                                 : cross_entropy(logits, upload(tape, to));
    loss.backward();
    (teaching ? student_adam : teacher_adam).step(3e-3);
    if (step % 100 != 0) continue;
    last = cross_entropy(logits, upload(tape, to)).value();
    std::cout << (teaching ? "student" : "teacher") << ", step " << step << ": cross-entropy " << last << "\n";
  }
  return last < 0.1 ? 0 : 1;
}
