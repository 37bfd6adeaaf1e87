#pragma once
#include <vector>

#include "job.hpp"

/// Throws if a requested run already exists, unless the options say to resume or overwrite it.
void require_no_earlier_runs(const Options& options);

/// Finished runs of the experiment in the output folder that are not among these jobs: other rows or seeds.
std::vector<Job> runs_beside(const std::vector<Job>& jobs);

/// Throws if a run to resume, or another run of the same table, has different settings. Then removes the runs to overwrite.
void prepare_folder(const std::vector<Job>& jobs, const std::vector<Job>& others);
