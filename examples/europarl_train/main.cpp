// Repeats two comparisons of translation models on Europarl: "Attention Mechanisms in Neural Machine Translation", every
// attention over an LSTM, and the University of Edinburgh's NLU coursework, input feeding against a Transformer.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <iostream>
#include <thread>

#include "attn/core/error.hpp"
#include "job.hpp"
#include "model_names.hpp"
#include "run_folder.hpp"
#include "table.hpp"

namespace {

/// Row by row, all seeds of each.
std::vector<Job> jobs_of(const Options& options, const Corpus& corpus, Board& board) {
  const unsigned cores = options.threads > 0 ? static_cast<unsigned>(options.threads) : std::thread::hardware_concurrency();
  const int threads = std::max(1, static_cast<int>(cores) / options.jobs);
  std::vector<Job> jobs;
  for (const Row& row : rows())
    if (row.experiment == options.experiment &&
        (options.rows.empty() || std::count(options.rows.begin(), options.rows.end(), row.name) > 0))
      for (const std::uint64_t seed : options.seeds) jobs.push_back({options, corpus, board, row, seed, threads});
  return jobs;
}

/// A run that fails says why, and the others go on. Returns how many failed.
int run_all(const std::vector<Job>& jobs, bool gpu) {
  std::atomic<std::size_t> next = 0;
  std::atomic<int> failures = 0;
  const auto work = [&] {
    for (std::size_t i; (i = next++) < jobs.size() && !interrupted;) {
      const Job& job = jobs[i];
      const auto failed = [&](const std::exception& error, const char* hint) {
        job.board.say(job.name() + ": " + error.what() + hint);
        ++failures;
      };
      try {
        if (job.options.resume && job.finished()) continue;
        make_folder(job.folder());
        std::filesystem::remove(job.folder() / "outcome.json");
        if (is_recurrent(job.row.model))
          (gpu ? cuda_recurrent : cpu_recurrent)(job);
        else
          (gpu ? cuda_transformer : cpu_transformer)(job);
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
  const Options options = read_options(count, words);
  const bool gpu = is_gpu(options);
  make_folder(options.output);
  const Corpus corpus = load_corpus(options);
  Board board(std::cout, ::isatty(1) != 0);
  const std::vector<Job> jobs = jobs_of(options, corpus, board);
  board.expect(static_cast<attn::Index>(jobs.size()));
  stop_on_interrupt();
  const int failures = run_all(jobs, gpu);
  const std::string table = write_table(jobs);
  if (!table.empty()) std::cout << "\n" << table << "\nwritten to " << options.output.string() << "\n";
  if (interrupted) std::cout << "stopped; go on with the same options and --resume\n";
  return failures > 0 ? 1 : 0;
} catch (const std::exception& error) {
  std::cerr << "europarl_train: " << error.what() << "\n";
  return 1;
}
