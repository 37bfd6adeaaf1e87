// A run's folder of model.json, a vocabulary and log.jsonl: its card and its report are read, or an attn::Error says why not.
#include <cstdint>
#include <cstdlib>

#include "attn/run/reported_run.hpp"
#include "attn/run/run_folder.hpp"
#include "support/case_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  static const fuzz::CaseFolder folder;
  const auto files = fuzz::files_of(fuzz::text_of(bytes, count), 3);
  folder.write("model.json", files[0]);
  folder.write("tokenizer.vocab", files[1]);
  folder.write("log.jsonl", files[2]);
  try {
    const attn::RunCard card = attn::read_run_card(folder.path());
    if (card.truncate < 1 || card.limit < 1) std::abort();
    for (const auto& [vocabulary, tokenizer] :
         {std::pair(card.model.source_vocabulary, &card.source), std::pair(card.model.target_vocabulary, &card.target)})
      if (vocabulary < tokenizer->size() || vocabulary > 2 * tokenizer->size() + 1024)
        std::abort();  // tables of such sizes
  } catch (const attn::Error&) {
  }
  try {
    attn::read_reported_run(folder.path());
  } catch (const attn::Error&) {
  }
  return 0;
}
