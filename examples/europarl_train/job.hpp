#pragma once
#include "attn/core/file.hpp"
#include "attn/run/device_options.hpp"
#include "common/parallel_progress.hpp"
#include "experiment.hpp"
#include "papers/europarl_corpus.hpp"

/// The command line of europarl_train.
struct Options {
  attn::DeviceOptions device;
  Experiment experiment = ::experiment("coursework");  // with the selected recipe and rows
  std::vector<std::uint64_t> seeds{1};
  int jobs = 1;  // parallel runs
  std::filesystem::path data = "../shared/data";
  std::filesystem::path output = "runs/europarl";
  attn::Index maps = 10;  // sentences
  bool resume = false, overwrite = false;
  std::string command;  // as typed

  /// The folder of the experiment's runs, and of one run.
  std::filesystem::path group() const { return output / experiment.name; }
  std::filesystem::path folder(const Row& row, std::uint64_t seed) const {
    return group() / row.name / ("seed" + std::to_string(seed));
  }
};

/// One run: a row and a seed, with references to shared data.
struct Job {
  const Options& options;
  const papers::EuroparlCorpus& corpus;
  attn::ParallelProgress& progress;
  const Row& row;
  std::uint64_t seed;
  int threads;  // CPU threads

  std::string name() const { return row.name + " " + std::to_string(seed); }
  std::filesystem::path folder() const { return options.folder(row, seed); }
  bool finished() const { return attn::file_exists(folder() / "outcome.json"); }
  bool begun() const { return attn::file_exists(folder() / "training.safetensors"); }
};

/// All settings that determine the training and scoring of a run, as stored in model.json.
attn::Metadata settings_of(const Job& job);

/// Settings that may change when a run is resumed.
inline const std::vector<std::string> may_change{"epochs", "patience", "steps"};

/// Skips a run that is finished with these settings if the options say --resume. Otherwise trains the row's model,
/// translates the tests with the last and the best weights, scores the translations and writes outcome.json.
void run(const Job& job);

/// Throws if a requested run already exists, unless the options say to resume or overwrite it.
void require_no_earlier_runs(const Options& options);

/// Finished runs of the experiment in the output folder that are not among these jobs: other rows or seeds.
std::vector<Job> runs_beside(const std::vector<Job>& jobs);

/// Throws if a run to resume, or another run of the same table, has different settings. Then removes the runs to overwrite.
void prepare_folder(const std::vector<Job>& jobs, const std::vector<Job>& others);

/// Writes figure 1 of the coursework to coursework/figure1.svg: the learning curves of `baseline` and `deeper`. One seed
/// each, one point per epoch, as in the paper. Needs a run of both rows.
void draw_figure1(const std::vector<Job>& jobs);

/// Writes the test sentences that the paper shows, with the paper's translations and ours, to EXPERIMENT-samples.md. Needs a
/// finished run and a test text with these sentences.
void write_sample_tables(const std::vector<Job>& jobs);

/// Writes the experiment's table as Markdown and JSON, from the finished jobs and other runs in the folder, and the
/// learning curves of each row. Returns the Markdown.
std::string write_table(std::vector<Job> jobs, const std::vector<Job>& others);
