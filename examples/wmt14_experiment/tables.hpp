#pragma once
#include "options.hpp"

/// Writes tables 3 and 4 of the fully trained models to tables.md and prints them.
void write_tables(const ExperimentOptions& options);
