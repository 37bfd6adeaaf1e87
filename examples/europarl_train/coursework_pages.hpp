#pragma once
#include <vector>

#include "job.hpp"

/// Writes figure 1 of the coursework to coursework/figure1.svg: the learning curves of `baseline` and `deeper`. One seed
/// each, one point per epoch, as in the paper. Needs a run of both rows.
void draw_figure1(const std::vector<Job>& jobs);

/// Writes tables 4 and 6 of the coursework to coursework-samples.md: selected test sentences with the paper's translations
/// and ours. Needs a finished run and a test text with these sentences.
void write_sample_tables(const std::vector<Job>& jobs);
