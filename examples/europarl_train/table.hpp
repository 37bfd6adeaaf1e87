#pragma once
#include <string>
#include <vector>

#include "job.hpp"

/// Writes the experiment's table as Markdown and JSON, from the finished jobs and other runs in the folder, and the
/// learning curves of each row. Returns the Markdown.
std::string write_table(std::vector<Job> jobs, const std::vector<Job>& others);
