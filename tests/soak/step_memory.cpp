// Training steps take nothing from the heap after the first, and a long run of batches of all lengths takes nothing more
// once the largest has been seen.

#include <cstdio>

#include "attn/nn/lstm.hpp"
#include "attn/optim/adam.hpp"
#include "attn/train/trainer.hpp"
#include "attn/transformer.hpp"
#include "counted_heap.hpp"

namespace {

using namespace attn;
using F = Cpu<float>;

int failures = 0;

void check(bool right, const char* what, const char* model, int threads, long long number) {
  std::printf("%s  %s, %d thread(s): %s (%lld)\n", right ? "ok    " : "FAILED", model, threads, what, number);
  failures += right ? 0 : 1;
}

constexpr TransformerShape shape{.encoder_layers = 2, .decoder_layers = 2, .width = 32, .heads = 4, .inner = 64};
constexpr Index kVocabulary = 300;

/// A batch whose sentences have `shortest` to `longest` words.
Batch random_batch(std::uint64_t seed, Index count, Index shortest, Index longest) {
  Batch batch;
  Random random(seed);
  std::vector<Token> words;
  for (Index i = 0; i < count; ++i)
    for (Sentences* side : {&batch.source, &batch.target_input}) {
      words.resize(static_cast<std::size_t>(shortest + random.below(longest - shortest + 1)));
      for (Token& word : words) word = static_cast<Token>(random.below(kVocabulary));
      side->push_back(words);
    }
  batch.target_output = batch.target_input;
  return batch;
}

/// Reads a text from both ends, guesses its words: whatever a recurrent model needs at every step of its training.
struct Recurrent {
  using DeviceType = F;

  Embedding<F, 32> embedding{kVocabulary, 0.1f};
  LearnedStates<F, 48, 2> start;
  LstmStack<F, 32, 48, 2, BidirectionalLstm> encoder{0.1f};
  Output<F, 48> output{kVocabulary};

  Loss<F> loss(Tape<F>& tape, const Batch& batch, LossOptions options) const {
    const Text source = upload(tape, batch.source);
    const TimeMajor layout = time_major(tape, source.rows, source.rows.begin);  // the CPU's memory is the host's
    const auto h = encoder(embedding(tape, source), layout, start(tape, source.rows.count)).h;
    return output.loss(h, source, options);
  }
  void for_each_parameter(auto&& visit) {
    visit("embedding", embedding);
    visit("start", start);
    visit("encoder", encoder);
    visit("output", output);
  }
};

template <class Model, class... Options>
void check_model(const char* name, int threads, const Options&... options) {
  F device(threads);
  Network<Model> network(device, options..., 1);
  Adam<F> adam(network.parameters, {.clip_norm = 1});
  std::uint64_t number = 0;
  const auto step = [&](const Batch& batch) {
    Tape<F> tape(device, TapeMode::training(1, ++number));
    auto loss = network->loss(tape, batch, {.amount = 0.1});
    loss.backward();
    adam.step(1e-3);
    return loss.read().loss;
  };

  const Batch largest = random_batch(1, 24, 40, 40);
  const long before = allocations;
  step(largest);
  check(allocations > before, "the first step takes memory, and is seen to", name, threads, allocations - before);
  const long after_first = allocations;
  for (int i = 2; i <= 5; ++i) step(largest);
  check(allocations == after_first, "steps 2 to 5 take nothing from the heap", name, threads, allocations - after_first);

  std::vector<Batch> batches;
  batches.reserve(200);
  for (std::uint64_t i = 0; i < 200; ++i) {
    Random random(i, 7);
    batches.push_back(random_batch(i, 1 + random.below(24), 0, random.below(41)));
  }
  const long long held = bytes_held;
  long long most = 0;
  bool finite = true;
  for (const Batch& batch : batches) {
    finite = finite && std::isfinite(step(batch));
    most = std::max<long long>(most, bytes_held - held);
  }
  check(most == 0, "200 smaller batches of all lengths hold no more than the largest", name, threads, most);
  check(finite, "and every loss is a number", name, threads, 200);
}

/// A training of several batches a step.
void check_trainer(int threads) {
  F device(threads);
  Network<Transformer<F, shape>> network(device, {.source_vocabulary = kVocabulary, .target_vocabulary = kVocabulary}, 1);
  Adam adam(network, {.clip_norm = 1});
  ParallelCorpus corpus;
  corpus.source = corpus.target = random_batch(1, 72, 20, 20).source;
  Batches batches(corpus, {.begin = 0, .end = 1}, {.size = 4, .order = BatchOrder::sequential});
  long after_first = 0, after_last = 0;
  OnStep count([&](const StepReport& report) { (report.step == 1 ? after_first : after_last) = allocations; });
  Trainer trainer(network, adam, ConstantRate{1e-3}, {.epochs = 1, .accumulate = 3, .report_every = 1});
  trainer.run(batches, {&count});
  check(trainer.state.step == 6, "18 batches, 3 a step", "trainer", threads, trainer.state.step);
  check(after_first > 0 && after_last == after_first, "its steps after the first take nothing from the heap", "trainer",
        threads, after_last - after_first);
}

}  // namespace

int main() {
  const long before = allocations;
  void* volatile block = std::malloc(10);  // volatile: else the compiler may see that nobody needs it
  std::free(block);
  block = take_or_throw(10, 256);
  give_back(block);
  check(allocations - before == 2 && bytes_held == 0, "each is counted", "two allocations", 1, allocations - before);
  const TransformerOptions options{
      .source_vocabulary = kVocabulary, .target_vocabulary = kVocabulary, .dropout = {0.1f, 0.1f, 0.1f}};
  for (const int threads : {1, 2}) {
    check_model<Transformer<F, shape, Full<>, PostNorm>>("transformer", threads, options);
    check_model<Transformer<F, shape, Full<>, PreNorm>>("pre-norm transformer", threads, options);
    check_model<Transformer<F, shape, Linformer<8, 40>, PostNorm>>("linformer", threads, options);
    check_model<Recurrent>("recurrent encoder", threads);
    check_trainer(threads);
  }
  return failures == 0 ? 0 : 1;
}
