#include "options.hpp"

#include <set>

#include "command_line.hpp"

#include "rows.hpp"

namespace {

// Chittersu's program: epochs of 600 random batches; the loss is summed over the steps of a sentence. 15 with <sos>.
constexpr Recipe attention_recipe{.epochs = 10,
                                  .patience = 0,
                                  .batches = 600,
                                  .batch = 300,
                                  .pool = 100,
                                  .rate = 0.01,
                                  .clip = 5,
                                  .epsilon = 1e-3,
                                  .amsgrad = true,
                                  .limit = 14,
                                  .says_unknown = true};
constexpr Recipe coursework_recipe{.epochs = 100,
                                   .patience = 10,
                                   .batches = 0,
                                   .batch = 10,
                                   .pool = 0,
                                   .rate = 3e-4,
                                   .clip = 4,
                                   .epsilon = 1e-8,
                                   .amsgrad = false,
                                   .limit = 100,
                                   .says_unknown = false};

const char* about() {
  return "Repeats two comparisons of translation models on Europarl, and writes their tables beside the papers' "
         "figures.\n\n"
         "  europarl_train --experiment attention    every attention: 13 models, English to German (Chittersu 2019)\n"
         "  europarl_train --experiment coursework   input feeding, deeper, lexical, Transformer: 4 models, German to "
         "English\n"
         "                                           (University of Edinburgh, NLU coursework 2022)\n\n"
         "The data folder holds, for 'attention', europarl-seed003/{en.vocab,de.vocab,proc.dev.tsv,proc.test.tsv} and\n"
         "europarl/{train*.en,train*.de,test.en,test.de}, the training files plain or as .xz; for 'coursework',\n"
         "europarl-10k/{train,val,test}.{de,en}. The output folder gets EXPERIMENT.md and .json, and in EXPERIMENT/ a "
         "learning\n"
         "curve for each row and a folder for each run: its best model (model.safetensors, model.json and two "
         "vocabularies), "
         "all\n"
         "it takes to go on (training.safetensors, see --resume), log, curve, translations, attention maps and scores.\n";
}

void add_recipe_options(CLI::App& app, Recipe& r) {
  const auto* group = "Training (defaults: the paper's)";
  const auto add = [&](const char* name, auto& value, const char* what, const CLI::Validator& check) {
    app.add_option(name, value, what)->group(group)->check(check);
  };
  add("--epochs", r.epochs, "attention 10, coursework 100", whole_number(1));
  add("--epoch-batches", r.batches, "Batches of an epoch; 0: one pass; attention 600", whole_number(0));
  add("--steps", r.steps, "At most so many steps; 0: as many as the epochs have", whole_number(0));
  add("--patience", r.patience, "Epochs without improvement until it stops; 0: never; coursework 10", whole_number(0));
  add("--batch", r.batch, "Sentences of a batch; attention 300, coursework 10", whole_number(1));
  add("--rate", r.rate, "Learning rate; attention 0.01, coursework 0.0003", positive_number());
  add("--clip", r.clip, "Largest norm of a step's gradients, 0: any; attention 5, coursework 4", number(0, 1e9));
  add("--limit", r.limit, "Words of a translation; attention 14, coursework 100", whole_number(1));
  add("--training-pairs", r.training_pairs, "Only the first so many; 0: all", whole_number(0));
}

void check_rows(const Options& o) {
  for (const std::string& row : o.rows)
    if (find_row(o.experiment, row) == nullptr) {
      std::string names;
      for (const Row& known : rows_of(o.experiment)) names += (names.empty() ? "" : ", ") + known.name;
      throw CLI::ValidationError("--rows: '" + row + "' is not a row of " + o.experiment + ", which has " + names);
    }
  if (std::set(o.rows.begin(), o.rows.end()).size() < o.rows.size() ||
      std::set(o.seeds.begin(), o.seeds.end()).size() < o.seeds.size())
    throw CLI::ValidationError("--rows and --seeds: name each one once");
}

}  // namespace

Options read_options(int count, char** words) {
  Options o;
  o.recipe = coursework_recipe;
  for (int i = 0; i < count; ++i)
    o.command += (i > 0 ? " " : "") + (i == 0 ? std::filesystem::path(words[0]).filename().string() : words[i]);
  CLI::App app(about(), "europarl_train");
  // Options are taken in the order in which they are added: the recipe's defaults are the experiment's.
  app.add_option_function<std::string>(
         "--experiment",
         [&](const std::string& name) {
           o.experiment = name;
           o.recipe = name == "attention" ? attention_recipe : coursework_recipe;
         },
         "Which one")
      ->group("What")
      ->default_str("coursework")
      ->check(CLI::IsMember({"attention", "coursework"}));
  app.add_option("--rows", o.rows, "Only these rows, comma-separated, as in baseline,lexical")
      ->group("What")
      ->delimiter(',');
  app.add_option("--seeds", o.seeds, "A run of every row for each, comma-separated; default 1")
      ->group("What")
      ->delimiter(',');
  app.add_option("--data", o.data, "Folder of the texts")->group("What")->capture_default_str();
  add_recipe_options(app, o.recipe);
  add_device_options(app, o.device);
  app.add_option("--jobs", o.jobs, "Runs at a time, each with a share of the cores, or all on the one GPU")
      ->group("Device")
      ->capture_default_str()
      ->check(whole_number(1, 64));
  app.add_option("--output", o.output, "Folder for what it writes")->group("Results")->capture_default_str();
  app.add_option("--maps", o.maps, "Draw where a model looked in so many sentences of the first test")
      ->group("Results")
      ->capture_default_str()
      ->check(whole_number(0));
  app.add_flag("--resume", o.resume, "Pass over runs that are finished, go on with those that are not")->group("Results");
  read_command_line(app, count, words, [&] { check_rows(o); });
  return o;
}
