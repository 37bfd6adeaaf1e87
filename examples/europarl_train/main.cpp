// Repeats two comparisons of translation models on Europarl: "Attention Mechanisms in Neural Machine Translation"
// (attention mechanisms on an LSTM) and the University of Edinburgh's NLU coursework (input feeding against a Transformer).

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <thread>

#include "attn/core/error.hpp"
#include "attn/run/open_translator.hpp"
#include "common/folder_lock.hpp"
#include "common/print_device.hpp"
#include "common/run_several.hpp"
#include "common/standard_output.hpp"
#include "job.hpp"

using namespace attn;

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
