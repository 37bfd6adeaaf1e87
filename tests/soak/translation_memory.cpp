// A translator that runs for long holds no more than at its beginning, once the largest batch has been seen: sentences of all
// lengths, of words never seen before, greedily and with a beam. translation_memory [SENTENCES], 3,000 unless told.

#include <cstdio>
#include <string>

#include "attn/decode/translator.hpp"
#include "attn/text/bpe_training.hpp"
#include "attn/transformer.hpp"
#include "counted_heap.hpp"
#include "random_lines.hpp"

namespace {

using namespace attn;
using F = Cpu<float>;

constexpr TransformerShape shape{.encoder_layers = 2, .decoder_layers = 2, .width = 32, .heads = 4, .inner = 64};
constexpr Index kTogether = 50;  // lines of a call

}  // namespace

int main(int count, char** words) {
  const Index sentences = count > 1 ? std::stol(words[1]) : 3000, first = sentences >= 20'000 ? 5000 : sentences / 3;
  const ByteBpe bpe = learn_byte_bpe(400, random_lines(0, 500, 1, 8));
  F device(1);
  const TransformerOptions vocabularies{.source_vocabulary = bpe.size(), .target_vocabulary = bpe.size()};
  Network<Transformer<F, shape>> trained(device, vocabularies, 1), network(device, vocabularies, Inference{});
  for (const auto& entry : trained.parameters.entries())
    network.parameters.write(network.parameters.find(entry.name), trained.parameters.read(entry));
  const Translator greedy(device, *network, bpe, bpe, {.limit = 8, .truncate = 20});
  const Translator beam(device, *network, bpe, bpe, {.limit = 8, .truncate = 20, .search = SearchOptions{.beam = 3}});

  long long held = 0, resident = 0, most_held = 0, most_resident = 0;
  Index tokens = 0, at_first = 0;
  for (Index done = 0; done < sentences;) {
    {
      const auto lines = random_lines(1 + static_cast<std::uint64_t>(done), kTogether, done < 4 * kTogether ? 40 : 0,
                                      done < 4 * kTogether ? 40 : 8);
      const auto translations = (done / kTogether % 4 == 3 ? beam : greedy).translate(lines);
      for (const Translation& translation : translations) tokens += std::ssize(translation.target);
      done += std::ssize(translations);
    }
    if (done <= first) {
      held = std::max<long long>(held, bytes_held), resident = std::max(resident, resident_bytes()), at_first = tokens;
    } else {
      most_held = std::max<long long>(most_held, bytes_held), most_resident = std::max(most_resident, resident_bytes());
    }
  }
  const bool flat = most_held <= held;
  const bool resident_too = count == 1 || most_resident <= resident + (1 << 20);  // a short run says little of it
  const bool translated = at_first > 0 && tokens > at_first;
  std::printf("%s  %lld sentences into %lld tokens\n", translated ? "ok    " : "FAILED", static_cast<long long>(sentences),
              static_cast<long long>(tokens));
  std::printf("%s  on the heap after a call: at most %lld bytes in the first %lld sentences, %lld in the others\n",
              flat ? "ok    " : "FAILED", held, static_cast<long long>(first), most_held);
  std::printf("%s  of the process resident: at most %lld bytes, then %lld\n", resident_too ? "ok    " : "FAILED", resident,
              most_resident);
  return flat && resident_too && translated ? 0 : 1;
}
