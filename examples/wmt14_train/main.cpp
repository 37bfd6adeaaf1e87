// Trains a translation model and scores it: the experiment of "Evaluating Linformer's performance on the WMT14 EN-DE
// machine translation task", and, with no options, a small one that needs nothing but two minutes.

#include <exception>
#include <iostream>

#include "attn/core/error.hpp"
#include "attn/core/folder_lock.hpp"
#include "attn/metrics/bleu.hpp"
#include "attn/run/draw_attention.hpp"
#include "attn/run/open_translator.hpp"
#include "attn/run/run_report.hpp"
#include "attn/run/say_device.hpp"
#include "attn/run/stop_signal.hpp"
#include "attn/train/progress.hpp"
#include "corpus.hpp"
#include "papers/models.hpp"
#include "recipe.hpp"
#include "samples.hpp"
#include "settings.hpp"

using namespace attn;

namespace {

/// The card of the run in the output folder, if the run is to go on; else none.
std::optional<RunCard> card_to_resume(const Options& options) {
  if (!options.resume) {
    require(options.overwrite || !has_run(options.output), "there is a run in ", options.output.string(),
            " already: go on with it (--resume), replace it (--overwrite), or choose another folder (--output)");
    return std::nullopt;
  }
  RunCard card = read_run_card(options.output);
  require(std::filesystem::exists(options.output / "training.safetensors"), "the run in ", options.output.string(),
          " ended before its first validation, so there is nothing to go on from: begin again (--overwrite)");
  return card;
}

/// Removes what an earlier run has left in the folder, now that the new one can begin.
void clear(const std::filesystem::path& folder) {
  for (const char* name : {"model.json", "model.safetensors", "training.safetensors", "translations.txt", "report.html"})
    std::filesystem::remove(folder / name);
}

/// The card of the run whose weights this one begins with, if any; the model is then of the same kind.
std::optional<RunCard> card_to_start_from(Options& options) {
  if (options.start_from.empty()) return std::nullopt;
  require(!std::filesystem::equivalent(options.start_from, options.output), "--start-from and --output are one folder, ",
          options.output.string(), ": choose another folder for the new run");
  RunCard card = read_run_card(options.start_from);
  for (const auto& [name, value] : {std::pair("model", &options.model), {"size", &options.size}, {"norm", &options.norm}}) {
    require(card.settings.contains(name), options.start_from.string(),
            " was not made by wmt14_train: its settings have no '", name, "'");
    require(!options.given.contains(name) || *value == card.settings.at(name), "--", name, " ", *value,
            " does not fit --start-from: the run in ", options.start_from.string(), " has ", card.settings.at(name));
    *value = card.settings.at(name);
  }
  options.shared = card.model.tie_output;
  return card;
}

std::optional<AnyTokenizer> tokenizer_of(const std::optional<RunCard>& card) {
  return card ? std::optional(card->source) : std::nullopt;
}

/// Attention maps of the first two sentences that are short enough for a screen.
void draw_maps(const Options& options, const std::vector<std::string>& lines, const FolderTranslator& translate) {
  std::vector<std::string> some;
  for (const std::string& line : lines)
    if (some.size() < 2 && line.size() <= 100) some.push_back(line);
  for (const char* name : {"0001.svg", "0002.svg"})  // of another model; this one may not look at the source
    std::filesystem::remove(options.output / "maps" / name);
  if (!some.empty()) draw_attention(translate, some, options.output / "maps");
}

void score(const Options& options, const ParallelText& test, const FolderTranslator& translate, Index step) {
  const std::vector<std::string> translations = translate(test.source);
  const Bleu bleu = corpus_bleu(translations, test.target);
  write_lines(options.output / "translations.txt", translations);
  const auto shown = static_cast<std::ptrdiff_t>(std::min<std::size_t>(8, translations.size()));
  append_to_log(options.output, samples_event(test, {translations.begin(), translations.begin() + shown}, step));
  append_to_log(options.output, {{"event", "test"}, {"bleu", bleu.score}, {"signature", bleu.signature()}});
  std::cout << "\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(4, translations.size()); ++i)
    std::cout << "  source       " << test.source[i] << "\n  translation  " << translations[i] << "\n  reference    "
              << test.target[i] << "\n\n";
  std::cout << "on " << format_count(static_cast<Index>(translations.size())) << " unseen sentences: " << bleu.to_string()
            << "\n"
            << bleu.signature() << "\nwritten to " << options.output.string() << "\n";
}

int run(Options options) {
  say_device(std::cout, options.device);
  make_folder(options.output);
  const FolderLock lock(options.output);
  const std::optional<RunCard> before = card_to_resume(options);
  Texts texts = read_texts(options);
  apply_recipe(options, texts.pairs());
  const std::optional<RunCard> start = card_to_start_from(options);
  const Corpus corpus = encode_texts(options, texts, tokenizer_of(before ? before : start));
  std::cout << "settings: " << describe_settings(options) << "\n";

  const ModelSpec spec = model_spec(options, corpus);
  const std::shared_ptr<AnyModel> model = models().make(spec, options.device, options.seed);
  RunCard card{spec, corpus.tokenizer, corpus.tokenizer};
  card.truncate = options.truncate - 1;
  card.limit = options.limit;
  card.settings = settings_of(options, corpus);
  card.seed = options.seed;
  card.commit = ATTN_COMMIT;
  card.shape = model->shape();
  card.device = model->device();
  if (start) card.settings["start-from"] = options.start_from.string();
  if (before && before->settings.contains("start-from")) card.settings["start-from"] = before->settings.at("start-from");
  if (before)
    check_same_settings(options.output, before->settings, card.settings, {"epochs", "patience", "validate-every"});
  if (!before) clear(options.output);
  write_run_card(options.output, card);

  watch_stop_signals();
  if (start) model->load(options.start_from / "model.safetensors");
  TrainingRun training = training_run(options, corpus, card.settings);
  const FolderTranslator translate(card, model);
  if (options.validate_with == "bleu")
    training.score = [&](AnyModel&) {
      const auto some = [](std::vector<std::string> lines) {
        lines.resize(std::min<std::size_t>(lines.size(), 1000));
        return lines;
      };
      return corpus_bleu(translate(some(texts.validation.source)), some(texts.validation.target)).score;
    };
  WatchSamples samples(texts.validation, translate);
  samples.watch(training);
  const TrainingOutcome outcome = model->train(training);
  samples.write(options.output);
  std::cout << "trained for " << format_duration(outcome.seconds) << "\n";
  if (stop_signal() != 0) {
    std::cout << "stopped; go on with the same options and --resume\n";
    return stop_status();
  }
  model->load(options.output / "model.safetensors");
  score(options, texts.test, translate, outcome.state.step);
  draw_maps(options, texts.test.source, translate);
  write_run_report(options.output / "report.html", {options.output});
  return 0;
}

}  // namespace

int main(int count, char** words) try {
  papers::add_models(models());
  return run(read_options(count, words));
} catch (const OutOfMemory& error) {
  std::cerr << "wmt14_train: " << error.what()
            << ": the one with --batch, --batch-unit tokens or --truncate, the other with --vocabulary or --size\n";
  return 1;
} catch (const std::exception& error) {
  std::cerr << "wmt14_train: " << error.what() << "\n";
  return 1;
}
