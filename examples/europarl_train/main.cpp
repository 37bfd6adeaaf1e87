// Repeats two comparisons of translation models on Europarl: "Attention Mechanisms in Neural Machine Translation"
// (attention mechanisms on an LSTM) and the University of Edinburgh's NLU coursework (input feeding against a Transformer).

#include <unistd.h>

#include <exception>
#include <iostream>
#include <set>

#include "attn/core/error.hpp"
#include "attn/run/open_translator.hpp"
#include "common/command_line.hpp"
#include "common/folder_lock.hpp"
#include "common/print_device.hpp"
#include "common/run_several.hpp"
#include "job.hpp"

using namespace attn;

namespace {

const char* about =
    R"(Repeats two comparisons of translation models on Europarl and writes their tables with the
papers' figures.

  europarl_train --experiment attention    attention mechanisms: 13 models, English to German
                                           (Chittersu 2019)
  europarl_train --experiment coursework   input feeding, deeper, lexical, Transformer: 4 models,
                                           German to English (Edinburgh, NLU coursework 2022)

The data folder holds, for 'attention', europarl-seed003/{en.vocab,de.vocab,proc.dev.tsv,
proc.test.tsv} and europarl/{train*.en,train*.de,test.en,test.de}, the training files plain or as
.xz; for 'coursework', europarl-10k/{train,val,test}.{de,en}. The output folder gets EXPERIMENT.md
and .json, and in EXPERIMENT/ a learning curve for each row and a folder for each run: its best
model, a checkpoint to --resume, log, curve, translations, attention maps and scores.
)";

void list_recipe(const auto& add, Recipe& r) {
  add("--epochs", r.train.epochs, "attention 10, coursework 100", whole_number(1));
  add("--epoch-batches", r.train.validate_every, "Batches per epoch; 0: one pass over the text; attention 600",
      whole_number(0));
  add("--steps", r.train.steps, "Maximum number of steps; 0: no limit", whole_number(0));
  add("--patience", r.train.patience, "Stop after this many epochs without improvement; 0: never; coursework 10",
      whole_number(0));
  add("--batch", r.batches.size, "Sentences per batch; attention 300, coursework 10", whole_number(1));
  add("--pool", r.batches.pool, "Batches per group sorted by length; attention 100, coursework all",
      whole_number(1, 1 << 30));
  add("--rate", r.rate, "Learning rate; attention 0.01, coursework 0.0003", positive_number());
  add("--clip", r.adam.clip_norm, "Maximum gradient norm; 0: no clipping; attention 5, coursework 4", number(0, 1e9));
  add("--epsilon", r.adam.epsilon, "Epsilon of Adam; attention 0.001, coursework 1e-8", positive_number());
  add("--amsgrad,!--no-amsgrad", r.adam.amsgrad, "AMSGrad: divide by the largest second moment so far; on for attention");
  add("--limit", r.limit, "Maximum words per translation; attention 14, coursework 100", whole_number(1));
  add("--unknown,!--never-unknown,!--no-unknown", r.unknown, "Allow <unk> in translations; on for attention");
  add("--training-pairs", r.training_pairs, "Train on the first N pairs; 0: all", whole_number(0));
}

/// Keeps the requested rows; an empty set keeps all.
void choose_rows(Experiment& experiment, const std::set<std::string>& wanted) {
  std::string names;
  for (const Row& row : experiment.rows) names += (names.empty() ? "" : ", ") + row.name;
  for (const std::string& name : wanted)
    if (std::ranges::find(experiment.rows, name, &Row::name) == experiment.rows.end())
      throw CLI::ValidationError("--rows: '" + name + "' is not a row of " + experiment.name + ", which has " + names);
  if (!wanted.empty()) std::erase_if(experiment.rows, [&](const Row& row) { return !wanted.contains(row.name); });
}

/// Prints help or an error and exits if there is nothing else to do.
Options read_options(int count, char** words) {
  Options o;
  o.command = typed_command("europarl_train", count, words);
  CLI::App app(about, "europarl_train");
  // CLI11 processes options in the order they are added: --experiment must come first, because it sets the recipe's
  // defaults.
  const auto choose = [&](const std::string& name) { o.experiment = experiment(name); };
  app.add_option_function<std::string>("--experiment", choose, "Experiment to run")
      ->group("What")
      ->default_str("coursework")
      ->check(CLI::IsMember({"attention", "coursework"}));
  std::vector<std::string> rows;
  const AddOptions what{app, "What"}, results{app, "Results"};
  what("--rows", rows, "Run only these rows, comma-separated, e.g. baseline,lexical")->delimiter(',');
  what("--seeds", o.seeds, "Seeds, comma-separated: one run per row and seed; default 1")->delimiter(',');
  what("--data", o.data, "Folder of the texts")->capture_default_str();
  list_recipe(AddOptions{app, "Training (defaults: the paper's)"}, o.experiment.recipe);
  add_device_options(app, o.device);
  AddOptions{app, "Device"}("--jobs", o.jobs, "Parallel runs, which share the cores or the GPU", whole_number(1, 64))
      ->capture_default_str();
  results("--output", o.output, "Output folder")->capture_default_str();
  results("--maps", o.maps, "Draw attention maps for the first N sentences of the first test", whole_number(0))
      ->capture_default_str();
  results("--resume", o.resume, "Skip finished runs and resume the others");
  results("--overwrite", o.overwrite, "Replace existing runs in the output folder");
  read_command_line(app, count, words, [&] {
    const std::set<std::string> wanted(rows.begin(), rows.end());
    choose_rows(o.experiment, wanted);
    if (wanted.size() < rows.size() || std::set(o.seeds.begin(), o.seeds.end()).size() < o.seeds.size())
      throw CLI::ValidationError("--rows or --seeds names one twice");
    if (o.resume && o.overwrite) throw CLI::ValidationError("--resume conflicts with --overwrite");
  });
  return o;
}

}  // namespace

Metadata Recipe::settings() const {
  Metadata settings;
  Recipe values = *this;
  list_recipe(NoteSettings{settings}, values);
  return settings;
}

int main(int count, char** words) try {
  const Options options = read_options(count, words);
  print_device(std::cout, options.device);
  const FolderLock lock(options.output);
  require_no_earlier_runs(options);
  const papers::EuroparlCorpus corpus =
      papers::load_europarl(options.experiment.name, options.data, options.experiment.recipe.training_pairs);

  ParallelProgress progress(std::cout, ::isatty(1) != 0);
  const int all = static_cast<int>(std::thread::hardware_concurrency()), given = options.device.threads;
  const int threads = std::max(1, (given > 0 ? given : all) / options.jobs);
  std::vector<Job> jobs;
  for (const Row& row : options.experiment.rows)
    for (const std::uint64_t seed : options.seeds) jobs.push_back({options, corpus, progress, row, seed, threads});
  const std::vector<Job> others = runs_beside(jobs);
  prepare_folder(jobs, others);
  progress.expect(static_cast<Index>(jobs.size()));

  watch_stop_signals();
  const auto job = [&](Index i) -> const Job& { return jobs[static_cast<std::size_t>(i)]; };
  const Index failures = run_several(
      std::ssize(jobs), options.jobs, [&](Index i) { run(job(i)); },
      [&](Index i, const std::exception& error) {
        const bool memory = dynamic_cast<const OutOfMemory*>(&error) != nullptr;
        progress.print(job(i).name() + ": " + error.what() + (memory ? " (--batch or --jobs)" : ""));
      });
  const std::string table = write_table(jobs, others);
  if (!table.empty()) std::cout << "\n" << table << "\nwritten to " << options.output.string() << "\n";
  if (stop_signal() != 0) {
    std::cout << "stopped. Continue with the same options and --resume"
              << (options.overwrite ? " instead of --overwrite\n" : "\n");
    return stop_status();
  }
  require_written(std::cout, "the progress");
  return failures > 0 ? 1 : 0;
} catch (const std::exception& error) {
  std::cerr << "europarl_train: " << error.what() << "\n";
  return 1;
}
