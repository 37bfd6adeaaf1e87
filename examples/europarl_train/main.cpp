// Repeats two comparisons of translation models on Europarl: "Attention Mechanisms in Neural Machine Translation", every
// attention over an LSTM, and the University of Edinburgh's NLU coursework, input feeding against a Transformer.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <iostream>
#include <thread>

#include "attn/core/error.hpp"
#include "attn/core/folder_lock.hpp"
#include "attn/run/open_translator.hpp"
#include "attn/run/stop_signal.hpp"
#include "command_line.hpp"
#include "job.hpp"
#include "papers/models.hpp"
#include "table.hpp"

namespace {

/// Row by row, all seeds of each.
std::vector<Job> jobs_of(const Options& options, const Corpus& corpus, attn::ParallelProgress& progress) {
  const unsigned cores =
      options.device.threads > 0 ? static_cast<unsigned>(options.device.threads) : std::thread::hardware_concurrency();
  const int threads = std::max(1, static_cast<int>(cores) / options.jobs);
  std::vector<Job> jobs;
  for (const Row& row : rows())
    if (row.experiment == options.experiment &&
        (options.rows.empty() || std::count(options.rows.begin(), options.rows.end(), row.name) > 0))
      for (const std::uint64_t seed : options.seeds) jobs.push_back({options, corpus, progress, row, seed, threads});
  return jobs;
}

/// A run that fails says why, and the others go on. Returns how many failed.
int run_all(const std::vector<Job>& jobs) {
  std::atomic<std::size_t> next = 0;
  std::atomic<int> failures = 0;
  const auto work = [&] {
    for (std::size_t i; (i = next++) < jobs.size() && attn::stop_signal() == 0;) {
      const Job& job = jobs[i];
      const auto failed = [&](const std::exception& error, const char* hint) {
        job.progress.say(job.name() + ": " + error.what() + hint);
        ++failures;
      };
      try {
        if (job.options.resume && job.finished()) continue;
        attn::make_folder(job.folder());
        std::filesystem::remove(job.folder() / "outcome.json");
        run(job);
      } catch (const attn::OutOfMemory& error) {
        failed(error, ": with --batch or --jobs");
      } catch (const std::exception& error) {
        failed(error, "");
      }
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 1; i < jobs[0].options.jobs; ++i) threads.emplace_back(work);
  work();
  threads.clear();  // waits for them
  return failures;
}

}  // namespace

int main(int count, char** words) try {
  papers::add_models(attn::models());
  const Options options = read_options(count, words);
  say_device(std::cout, options.device);
  attn::make_folder(options.output);
  const attn::FolderLock lock(options.output);
  const Corpus corpus = load_corpus(options);
  attn::ParallelProgress progress(std::cout, ::isatty(1) != 0);
  const std::vector<Job> jobs = jobs_of(options, corpus, progress);
  progress.expect(static_cast<attn::Index>(jobs.size()));
  attn::watch_stop_signals();
  const int failures = run_all(jobs);
  const std::string table = write_table(jobs);
  if (!table.empty()) std::cout << "\n" << table << "\nwritten to " << options.output.string() << "\n";
  if (attn::stop_signal() != 0) {
    std::cout << "stopped; go on with the same options and --resume\n";
    return attn::stop_status();
  }
  return failures > 0 ? 1 : 0;
} catch (const std::exception& error) {
  std::cerr << "europarl_train: " << error.what() << "\n";
  return 1;
}
