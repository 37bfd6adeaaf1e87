#include "job.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "common/begin_run.hpp"
#include "common/earlier_run.hpp"

using namespace attn;

namespace {

/// The seeds of all runs in a row's folder, sorted.
std::set<std::uint64_t> seeds_in(const std::filesystem::path& folder) {
  std::set<std::uint64_t> seeds;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    std::uint64_t seed = 0;
    if (!is_numbered(name, "seed", "")) continue;
    std::from_chars(name.data() + 4, name.data() + name.size(), seed);
    seeds.insert(seed);
  }
  return seeds;
}

}  // namespace

void require_no_earlier_runs(const Options& options) {
  if (options.resume || options.overwrite) return;
  for (const Row& row : options.experiment.rows)
    for (const std::uint64_t seed : options.seeds) require_no_earlier_run(options.folder(row, seed));
}

std::vector<Job> runs_beside(const std::vector<Job>& jobs) {
  const Job& first = jobs[0];
  std::vector<Job> others;
  for (const Row& row : experiment(first.options.experiment.name).rows)
    for (const std::uint64_t seed : seeds_in(first.options.group() / row.name)) {
      const Job other{first.options, first.corpus, first.progress, row, seed, first.threads};
      if (other.finished() && std::ranges::find(jobs, other.name(), &Job::name) == jobs.end()) others.push_back(other);
    }
  return others;
}

void prepare_folder(const std::vector<Job>& jobs, const std::vector<Job>& others) {
  for (const Job& job : jobs)
    if (job.options.resume && (job.begun() || job.finished()))
      check_same_settings(job.folder(), read_run_config(job.folder()).settings, settings_of(job),
                          job.begun() ? may_change : std::vector<std::string>{});
  for (const Job& other : others) {
    const std::string difference = different_setting(read_run_config(other.folder()).settings, settings_of(other));
    require(difference.empty(), other.folder().string(), ", a run of the same table, was trained with ", difference,
            ". Use its options, or another folder (--output).");
  }
  // Clears all runs before the first one starts, so that --resume works after an interruption.
  for (const Job& job : jobs)
    if (job.options.overwrite) clear_run(job.folder(), false);
}
