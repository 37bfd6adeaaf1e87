#pragma once
#include <vector>

#include "job.hpp"

/// Refuses to replace runs that the options ask for again, unless they say what is to become of them.
void require_no_earlier_runs(const Options& options);

/// Finished runs of the experiment in the output folder that are none of these jobs: of other rows or seeds.
std::vector<Job> runs_beside(const std::vector<Job>& jobs);

/// Refuses to go on with jobs, and to write one table of jobs and others, where their settings are not the same. Then removes
/// what the jobs are to replace.
void prepare_folder(const std::vector<Job>& jobs, const std::vector<Job>& others);
