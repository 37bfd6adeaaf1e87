// Two threads that translate for long, each with a translator of its own, then both with one: every translation is what one
// thread alone gets, and no more is held in the end than at the beginning, once the longest lines have been seen.
// translators_in_threads [SENTENCES] of each thread and way, 2,000 unless told.

#include <unistd.h>

#include <array>
#include <barrier>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "attn/cpu.hpp"
#include "attn/models/transformer.hpp"
#include "attn/run/open_translator.hpp"
#include "attn/text/bpe_training.hpp"
#include "attn/train/checkpoint.hpp"
#include "counted_heap.hpp"
#include "random_lines.hpp"

namespace {

using namespace attn;
using F = Cpu<float>;
using Texts = std::vector<std::vector<std::string>>;

constexpr Index kTogether = 20;  // lines of a call
constexpr Index kMeet = 5;       // calls between two looks at the memory

int failures = 0;

void check(bool right, const char* way, const char* what, long long number, long long other) {
  std::printf("%s  %s: %s (%lld, %lld)\n", right ? "ok    " : "FAILED", way, what, number, other);
  failures += right ? 0 : 1;
}

/// The lines of a call; those of the first ones are as long as any.
std::vector<std::string> lines_of(Index call) {
  const bool longest = call < 2 * kMeet;
  return random_lines(1 + static_cast<std::uint64_t>(call), kTogether, longest ? 20 : 0, longest ? 20 : 8);
}

RunConfig make_card(const ByteBpe& bpe) {
  return {{.name = "transformer-small", .source_vocabulary = bpe.size(), .target_vocabulary = bpe.size()}, bpe, bpe};
}

/// Makes translators of one model that was not trained: its translations are words all the same.
struct Translators {
  ByteBpe bpe = learn_byte_bpe(400, random_lines(0, 500, 1, 8));
  RunConfig config = make_card(bpe);
  std::filesystem::path weights =
      std::filesystem::temp_directory_path() / ("attn_soak_" + std::to_string(::getpid()) + ".safetensors");

  Translators() {
    config.truncate = 16;
    config.limit = 6;
    F device(1);
    const Network<Transformer<F, small_shape>> network(
        device, {.source_vocabulary = bpe.size(), .target_vocabulary = bpe.size(), .tie_output = config.model.tie_output},
        1);
    save_model(weights, network.parameters);
  }
  ~Translators() { std::filesystem::remove(weights); }

  FolderTranslator make(Index beam) const {
    auto model = models().make(config.model, {.device = "cpu", .threads = 1});
    model->load(SafetensorsFile(weights));
    FolderTranslator translator(config, std::move(model));
    if (beam > 1) translator.options.search = SearchOptions{.beam = beam};
    return translator;
  }
};

/// Each thread takes all calls; they meet after every few, when nothing is under way. The later calls are the second thread's
/// in the opposite order.
void soak(const char* way, const FolderTranslator& one, const FolderTranslator& other, const Texts& alone,
          bool resident_too) {
  const Index calls = std::ssize(alone), early = calls / 3, longest = 2 * kMeet;
  long long held = 0, resident = 0, most_held = 0, most_resident = 0;
  Index done = 0;
  std::array<long long, 2> right{};
  std::barrier meet(2, [&]() noexcept {
    const long long held_now = bytes_held, resident_now = resident_bytes();
    const bool is_early = (done += kMeet) <= early;
    (is_early ? held : most_held) = std::max(is_early ? held : most_held, held_now);
    (is_early ? resident : most_resident) = std::max(is_early ? resident : most_resident, resident_now);
  });
  const auto translate_all = [&](const FolderTranslator& translator, std::size_t thread) {
    for (Index i = 0; i < calls; ++i) {
      const Index call = i < longest || thread == 0 ? i : calls - 1 - (i - longest);
      right[thread] += translator(lines_of(call)) == alone[static_cast<std::size_t>(call)] ? 1 : 0;
      if ((i + 1) % kMeet == 0) meet.arrive_and_wait();
    }
  };
  {
    std::jthread first([&] { translate_all(one, 0); }), second([&] { translate_all(other, 1); });
  }
  check(right[0] == calls && right[1] == calls, way, "all calls of both threads give what one thread gets", right[0],
        right[1]);
  check(held > 0 && most_held <= held, way, "bytes on the heap, in the first third and later", held, most_held);
  const bool flat = most_resident <= resident + (1 << 20);  // a short run says little of it
  check(flat || !resident_too, way, "bytes resident", resident, most_resident);
}

}  // namespace

int main(int count, char** words) {
  const Index sentences = count > 1 ? std::stol(words[1]) : 2000, calls = sentences / kTogether / kMeet * kMeet;
  const Translators translators;
  for (const Index beam : {1, 3}) {
    const FolderTranslator one = translators.make(beam), other = translators.make(beam);
    Texts alone;
    for (Index call = 0; call < calls; ++call) alone.push_back(one(lines_of(call)));
    std::size_t letters = 0;
    for (const auto& lines : alone)
      for (const std::string& line : lines) letters += line.size();
    check(letters > 0, "one thread", "letters of translations, beam", static_cast<long long>(letters), beam);
    soak("two threads, two translators", one, other, alone, count > 1);
    soak("two threads, one translator", one, one, alone, count > 1);
  }
  return failures == 0 ? 0 : 1;
}
