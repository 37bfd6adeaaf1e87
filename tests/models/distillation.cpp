#include "attn/core/network.hpp"
#include "attn/tape/losses.hpp"
#include "attn/tape/reductions.hpp"
#include "support/model_tools.hpp"

using namespace attn_test;
using D = Cpu<double>;

namespace {

constexpr TransformerShape kShape{.encoder_layers = 1, .decoder_layers = 1, .width = 8, .heads = 2, .inner = 12};
constexpr TransformerShape kTeacher{.encoder_layers = 1, .decoder_layers = 1, .width = 12, .heads = 3, .inner = 16};
using Student = Transformer<D, kShape>;
using Teacher = Transformer<D, kTeacher>;

}  // namespace

TEST_CASE("distillation: a student learns from an inference-only teacher on one tape") {
  D device(1);
  const TransformerOptions options{.source_vocabulary = 11, .target_vocabulary = 11, .dropout = {0.2f, 0, 0}};
  Network<Student> student(device, options, 1);
  Network<Teacher> teacher(device, options, Inference{});
  Random random(3);
  for (const auto& entry : teacher.parameters.entries()) {
    auto numbers = teacher.parameters.read(entry);
    for (double& number : numbers) number = 0.5 * random.normal();
    teacher.parameters.write(entry, numbers);
  }
  shake(student.parameters);
  const Batch batch = Batch::of(sentences({{4, 5, 6}, {7}}), sentences({{8, 9}, {10, 4, 5}}), special_tokens);
  const auto loss = [&](Tape<D>& tape) {
    const auto [source, target, labels] = upload(tape, batch);
    const auto probabilities = softmax(teacher->output.logits(teacher->hidden(tape, source, target)));
    CHECK(probabilities.slot == nullptr);
    const auto logits = student->output.logits(student->hidden(tape, source, target));
    return 0.7 * kl_divergence(logits, probabilities) + 0.3 * cross_entropy(logits, labels, {.amount = 0.1});
  };
  check_gradients(student.parameters, loss, TapeMode::gradients(), 6);
  check_gradients(student.parameters, loss, TapeMode::training(1, 1), 6);
}

TEST_CASE("distillation: a loss that only the teacher could reduce is an error") {
  D device(1);
  Network<Teacher> teacher(device, {.source_vocabulary = 11, .target_vocabulary = 11}, Inference{});
  const Batch batch = Batch::of(sentences({{4, 5, 6}}), sentences({{8, 9}}), special_tokens);
  Tape<D> tape(device, TapeMode::gradients());
  const auto [source, target, labels] = upload(tape, batch);
  const auto logits = teacher->output.logits(teacher->hidden(tape, source, target));
  Loss<D> loss = kl_divergence(logits, softmax(logits));
  CHECK(loss.value() == doctest::Approx(0).epsilon(1e-12));
  CHECK(complaint([&] { loss.backward(); }).find("this loss depends on no trainable parameter") != std::string::npos);
}
