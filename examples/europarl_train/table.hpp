#pragma once
#include <string>
#include <vector>

#include "job.hpp"

/// Writes the experiment's table as Markdown and JSON, of the jobs that are finished and of other runs in the folder, and each
/// row's learning curves. Returns the Markdown.
std::string write_table(std::vector<Job> jobs, const std::vector<Job>& others);
