#include "options.hpp"

#include "attn/run/command_line.hpp"

using namespace attn;

Options read_options(int count, char** words) {
  Options o;
  attn::BootstrapOptions bootstrap;
  bool resample = false;
  CLI::App app(
      "Scores translations against references: BLEU, chrF and chrF++ as sacreBLEU prints them, BLEU as\n"
      "Moses and NLTK do.\n\n"
      "  score reference.de < hypothesis.de                               BLEU and its signature\n"
      "  score reference.de other.de --metric bleu,chrf < hypothesis.de   two references a sentence\n"
      "  score reference.de --system a.de b.de --paired-bootstrap         is b other than a?\n"
      "  score --model runs/wmt14 --source a.en --target a.de             how probable translations are\n\n"
      "Texts are raw (detokenised) for bleu, chrf and chrf++; tokenised for multi-bleu, multi-bleu-lc\n"
      "(its -lc) and nltk. Files may be plain, .xz or .gz.\n",
      "score");
  app.add_option("reference", o.references, "Reference translations, a file for each");
  app.add_option("--system,-i", o.systems, "Translations to score; without it, standard input")->expected(1, -1);
  const CLI::Option* metric =
      app.add_option("--metric,-m", o.metrics, "bleu, chrf, chrf++, multi-bleu, multi-bleu-lc, nltk; several with commas")
          ->delimiter(',')
          ->capture_default_str();
  const CLI::Option* paired = app.add_flag(
      "--paired-bootstrap,--bootstrap", resample,
      "95 % confidence intervals by resampling sentences and, of several systems, p-values of the difference to "
      "the first");
  const CLI::Option* samples = app.add_option("--samples", bootstrap.samples, "Texts to resample")
                                   ->capture_default_str()
                                   ->check(whole_number(1, 1000000));
  const CLI::Option* seed =
      app.add_option("--seed", bootstrap.seed, "Of the resampling")->capture_default_str()->check(whole_number(0));
  app.add_flag("--json", o.json, "Print JSON");
  const AddOptions add{app, "Given translations and a model"};
  add("--model", o.model, "Folder of a training: prints the perplexity of --target given --source", CLI::ExistingDirectory);
  add("--source", o.source, "The text", CLI::ExistingFile);
  add("--target", o.target, "Its translation, line by line", CLI::ExistingFile);
  add("--log-probabilities", o.log_probabilities,
      "Print log P of each pair, a line each; the perplexity then goes to standard error");
  add_device_options(app, o.device);
  read_command_line(app, count, words, [&] {
    const bool pairs = !o.model.empty() || !o.source.empty() || !o.target.empty() || o.log_probabilities;
    if (pairs && (o.model.empty() || o.source.empty() || o.target.empty()))
      throw CLI::ValidationError("--model, --source and --target go together: give all three");
    if (pairs && !(o.references.empty() && o.systems.empty()))
      throw CLI::ValidationError("--model scores --target given --source: it goes without references and --system");
    for (const CLI::Option* option : {metric, paired, samples, seed})
      if (pairs && option->count() > 0)
        throw CLI::ValidationError(option->get_name() + " is for translations and references: it goes without --model");
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
