// A run's folder of model.json, a vocabulary and log.jsonl: its config and its report are read, or an attn::Error says why not.
#include <cstdint>
#include <cstdlib>

#include "attn/run/run_folder.hpp"
#include "common/reported_run.hpp"
#include "support/case_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  static const fuzz::CaseFolder folder;
  const auto files = fuzz::files_of(fuzz::text_of(bytes, count), 3);
  folder.write("model.json", files[0]);
  folder.write("tokenizer.vocab", files[1]);
  folder.write("log.jsonl", files[2]);
  try {
    const attn::RunConfig config = attn::read_run_config(folder.path());
    if (config.truncate < 1 || config.limit < 1) std::abort();
    for (const auto& [vocabulary, tokenizer] : {std::pair(config.model.source_vocabulary, &config.source),
                                                std::pair(config.model.target_vocabulary, &config.target)})
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
