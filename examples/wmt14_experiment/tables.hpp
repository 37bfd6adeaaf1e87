#pragma once
#include "options.hpp"

/// Writes tables 3 and 4 of the models that are trained to their end to tables.md, and prints them.
void write_tables(const ExperimentOptions& options);
