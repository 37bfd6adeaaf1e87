#pragma once
#include <string>
#include <vector>

#include "job.hpp"

/// Writes the experiment's table as Markdown and JSON, of the runs that are finished, and each row's learning curves. Returns
/// the Markdown.
std::string write_table(const std::vector<Job>& jobs);
