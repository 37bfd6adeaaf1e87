#include "options.hpp"

#include <algorithm>
#include <set>

#include "attn/run/command_line.hpp"

using namespace attn;

namespace {

const char* about =
    R"(Repeats two comparisons of translation models on Europarl, and writes their tables beside the
papers' figures.

  europarl_train --experiment attention    every attention: 13 models, English to German
                                           (Chittersu 2019)
  europarl_train --experiment coursework   input feeding, deeper, lexical, Transformer: 4 models,
                                           German to English (Edinburgh, NLU coursework 2022)

The data folder holds, for 'attention', europarl-seed003/{en.vocab,de.vocab,proc.dev.tsv,
proc.test.tsv} and europarl/{train*.en,train*.de,test.en,test.de}, the training files plain or as
.xz; for 'coursework', europarl-10k/{train,val,test}.{de,en}. The output folder gets EXPERIMENT.md
and .json, and in EXPERIMENT/ a learning curve for each row and a folder for each run: its best
model, all it takes to --resume, log, curve, translations, attention maps and scores.
)";

void list_recipe(const auto& add, Recipe& r) {
  add("--epochs", r.train.epochs, "attention 10, coursework 100", whole_number(1));
  add("--epoch-batches", r.train.validate_every, "Batches of an epoch; 0: one pass; attention 600", whole_number(0));
  add("--steps", r.train.steps, "At most so many steps; 0: as many as the epochs have", whole_number(0));
  add("--patience", r.train.patience, "Epochs without improvement until it stops; 0: never; coursework 10",
      whole_number(0));
  add("--batch", r.batches.size, "Sentences of a batch; attention 300, coursework 10", whole_number(1));
  add("--pool", r.batches.pool, "Batches of sentences that are sorted by length together; attention 100, coursework all",
      whole_number(1, 1 << 30));
  add("--rate", r.rate, "Learning rate; attention 0.01, coursework 0.0003", positive_number());
  add("--clip", r.adam.clip_norm, "Largest norm of a step's gradients, 0: any; attention 5, coursework 4", number(0, 1e9));
  add("--epsilon", r.adam.epsilon, "Of Adam; attention 0.001, coursework 1e-8", positive_number());
  add("--amsgrad,!--no-amsgrad", r.adam.amsgrad, "Adam divides by the largest second moment so far; attention does");
  add("--limit", r.limit, "Words of a translation; attention 14, coursework 100", whole_number(1));
  add("--unknown,!--no-unknown", r.unknown, "A translation may hold <unk>; attention's may");
  add("--training-pairs", r.training_pairs, "Only the first so many; 0: all", whole_number(0));
}

/// Keeps the rows that are wanted; none is all.
void choose_rows(Experiment& experiment, const std::set<std::string>& wanted) {
  std::string names;
  for (const Row& row : experiment.rows) names += (names.empty() ? "" : ", ") + row.name;
  for (const std::string& name : wanted)
    if (std::ranges::find(experiment.rows, name, &Row::name) == experiment.rows.end())
      throw CLI::ValidationError("--rows: '" + name + "' is not a row of " + experiment.name + ", which has " + names);
  if (!wanted.empty()) std::erase_if(experiment.rows, [&](const Row& row) { return !wanted.contains(row.name); });
}

}  // namespace

Metadata Recipe::settings() const {
  Metadata settings;
  Recipe values = *this;
  list_recipe(NoteSettings{settings}, values);
  return settings;
}

Options read_options(int count, char** words) {
  Options o;
  o.command = typed_command("europarl_train", count, words);
  CLI::App app(about, "europarl_train");
  // Options are taken in the order in which they are added: the recipe's defaults are the experiment's.
  const auto choose = [&](const std::string& name) { o.experiment = experiment(name); };
  app.add_option_function<std::string>("--experiment", choose, "Which one")
      ->group("What")
      ->default_str("coursework")
      ->check(CLI::IsMember({"attention", "coursework"}));
  std::vector<std::string> rows;
  const AddOptions what{app, "What"}, results{app, "Results"};
  what("--rows", rows, "Only these rows, comma-separated, as in baseline,lexical")->delimiter(',');
  what("--seeds", o.seeds, "A run of every row for each, comma-separated; default 1")->delimiter(',');
  what("--data", o.data, "Folder of the texts")->capture_default_str();
  list_recipe(AddOptions{app, "Training (defaults: the paper's)"}, o.experiment.recipe);
  add_device_options(app, o.device);
  AddOptions{app, "Device"}("--jobs", o.jobs, "Runs at a time, each with a share of the cores, or all on the one GPU",
                            whole_number(1, 64))
      ->capture_default_str();
  results("--output", o.output, "Folder for what it writes")->capture_default_str();
  results("--maps", o.maps, "Draw where a model looked in so many sentences of the first test", whole_number(0))
      ->capture_default_str();
  results("--resume", o.resume, "Pass over runs that are finished, go on with those that are not");
  results("--overwrite", o.overwrite, "Replace those of these runs that the output folder has");
  read_command_line(app, count, words, [&] {
    const std::set<std::string> wanted(rows.begin(), rows.end());
    choose_rows(o.experiment, wanted);
    if (wanted.size() < rows.size() || std::set(o.seeds.begin(), o.seeds.end()).size() < o.seeds.size())
      throw CLI::ValidationError("--rows and --seeds: name each one once");
    if (o.resume && o.overwrite)
      throw CLI::ValidationError("--resume goes on with runs, --overwrite replaces them: give one");
  });
  return o;
}
