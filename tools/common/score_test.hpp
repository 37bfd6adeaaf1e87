#pragma once
#include <ostream>

#include "attn/core/format_count.hpp"
#include "attn/data/parallel_text.hpp"
#include "attn/metrics/bleu.hpp"
#include "attn/text/utf8.hpp"
#include "attn/train/tensorboard.hpp"
#include "attn/train/terminal.hpp"
#include "common/event_log.hpp"
#include "common/score_pairs.hpp"
#include "common/watch_samples.hpp"

namespace attn {

/// Makes text safe for a terminal. Control characters become Unicode control pictures (U+001B is ␛); U+0080 to U+009F,
/// which have no pictures, and invalid UTF-8 become U+FFFD.
inline std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded letter = utf8::decode(text, at);
    at += letter.length;
    if (letter.code < ' ')
      utf8::append(shown, 0x2400 + letter.code);
    else if (letter.code == 0x7F)
      utf8::append(shown, 0x2421);
    else
      utf8::append(shown, letter.code >= 0x80 && letter.code < 0xA0 ? 0xFFFD : letter.code);
  }
  return shown;
}

/// Scores test translations after `step` training steps: BLEU and the perplexity of the references. Writes
/// translations.txt, the events `samples` and `test`, and TensorBoard metrics to the log folder. Prints the first
/// translations and the scores. `unseen` is false if the test text selected the model.
inline void score_test(const EventLog& log, const ParallelText& test, const FolderTranslator& translate,
                       const std::vector<std::string>& translations, Index step, std::ostream& out, bool unseen = true) {
  const Bleu bleu = corpus_bleu(translations, test.target);
  write_lines(log.folder / "translations.txt", translations);
  const auto shown = std::min<std::ptrdiff_t>(8, std::ssize(translations));
  log.add(samples_event(test, {translations.begin(), translations.begin() + shown}, step));
  const std::vector<PairScore> pairs = score_pairs(translate, test);
  const double perplexity = perplexity_of(pairs).value();
  const Index beam = translate.options.search ? translate.options.search->beam : 1;
  log.add({{"event", "test"},
           {"sentences", translations.size()},
           {"beam", beam},
           {"text", unseen ? "test" : "validation"},
           {"bleu", bleu.score},
           {"signature", bleu.signature()},
           {"perplexity", perplexity}});
  TensorBoard(log.folder, step).write(step, {{"test/bleu", bleu.score}, {"test/perplexity", perplexity}});
  out << "\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(4, translations.size()); ++i)
    out << "  source       " << printable(test.source[i]) << "\n  translation  " << printable(translations[i])
        << "\n  reference    " << printable(test.target[i]) << "\n\n";
  Index cut = 0;
  for (const PairScore& pair : pairs) cut += pair.cut;
  if (cut > 0)
    out << counted(cut, "sentence") << " of the test, source or target, exceed " << translate.config().truncate
        << " tokens: the rest is not translated and does not count in the perplexity (--truncate)\n";
  out << "on " << counted(translations.size(), unseen ? "unseen sentence" : "sentence")
      << (unseen ? "" : " of the validation text, which also selected the model (use --test-source for a test text)")
      << ", " << (beam > 1 ? "with a beam of " + std::to_string(beam) : "greedy") << ": " << bleu.to_string() << "\n"
      << bleu.signature() << "\nperplexity " << format_decimals(perplexity, 2) << "\nwritten to " << log.folder.string()
      << "\n";
}

}  // namespace attn
