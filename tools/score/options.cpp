#include "options.hpp"

#include "common/command_line.hpp"

using namespace attn;

Options read_options(int count, char** words) {
  Options o;
  attn::BootstrapOptions bootstrap;
  bool resample = false;
  CLI::App app(
      "Scores translations against references: BLEU, chrF and chrF++ as sacreBLEU prints them, BLEU as\n"
      "Moses and NLTK do.\n\n"
      "  score reference.de < hypothesis.de                               BLEU and its signature\n"
      "  score reference.de other.de --metric bleu,chrf < hypothesis.de   two references per sentence\n"
      "  score reference.de --system a.de b.de --paired-bootstrap         does b differ from a?\n"
      "  score --model runs/wmt14 --source a.en --target a.de             how probable translations are\n\n"
      "Texts are raw (detokenised) for bleu, chrf and chrf++; tokenised for multi-bleu, multi-bleu-lc\n"
      "(its -lc) and nltk. Files may be plain, .xz or .gz.\n",
      "score");
  app.add_option("reference", o.references, "Reference translations, one file per reference");
  app.add_option("--system,-i", o.systems, "Translations to score. Default: standard input")->expected(1, -1);
  const CLI::Option* metric =
      app.add_option("--metric,-m", o.metrics, "bleu, chrf, chrf++, multi-bleu, multi-bleu-lc, nltk; several with commas")
          ->delimiter(',')
          ->capture_default_str();
  const CLI::Option* paired = app.add_flag("--paired-bootstrap,--bootstrap", resample,
                                           "Print 95 % confidence intervals from resampled sentences and, for several "
                                           "systems, p-values of the difference to the first");
  const CLI::Option* samples = app.add_option("--samples", bootstrap.samples, "Number of resampled texts")
                                   ->capture_default_str()
                                   ->check(whole_number(1, 1000000));
  const CLI::Option* seed = app.add_option("--seed", bootstrap.seed, "Seed of the resampling")
                                ->capture_default_str()
                                ->check(whole_number(0, INT64_MAX));
  app.add_flag("--json", o.json, "Print JSON");
  const AddOptions add{app, "Given translations and a model"};
  add("--model", o.model, "Run folder of a model: print its perplexity of --target given --source", CLI::ExistingDirectory);
  add("--source", o.source, "Source text", CLI::ExistingFile);
  add("--target", o.target, "Its translation, line by line", CLI::ExistingFile);
  add("--log-probabilities", o.log_probabilities,
      "Print log P of each pair, one per line, and the perplexity on standard error");
  add_device_options(app, o.device);
  read_command_line(app, count, words, [&] {
    const bool pairs = !o.model.empty() || !o.source.empty() || !o.target.empty() || o.log_probabilities;
    if (pairs && (o.model.empty() || o.source.empty() || o.target.empty()))
      throw CLI::ValidationError("--model, --source and --target require each other");
    if (pairs && !(o.references.empty() && o.systems.empty()))
      throw CLI::ValidationError("--model conflicts with references and --system");
    for (const CLI::Option* option : {metric, paired, samples, seed})
      if (pairs && option->count() > 0) throw CLI::ValidationError(option->get_name() + " conflicts with --model");
    if (!pairs && o.references.empty()) throw CLI::RequiredError("reference");
    for (const std::string& name : o.metrics) try {
        attn::corpus_metric(name);
      } catch (const attn::Error& error) {
        throw CLI::ValidationError(error.what());
      }
  });
  if (resample || samples->count() > 0 || seed->count() > 0) o.bootstrap = bootstrap;
  return o;
}
