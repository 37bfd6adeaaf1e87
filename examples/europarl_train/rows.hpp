#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

struct Job;

/// A row of an experiment's table: a model, and what the paper says about it.
struct Row {
  std::string experiment, name, title;
  std::string model;                         // its name (support/model_names.hpp)
  std::map<std::string, double> bleu;        // the paper's, by test
  double perplexity = 0, training_loss = 0;  // the paper's, or 0
};

const std::vector<Row>& rows();
std::vector<Row> rows_of(std::string_view experiment);
const Row* find_row(std::string_view experiment, std::string_view name);  // or nullptr

// Train the row that the job names, on either device. Each is compiled in a file of its own, so that they compile side by side:
// cpu_*.cpp and, where the program is built with CUDA, cuda_*.cu.

void cpu_transformer(const Job&);
void cpu_recurrent(const Job&);
void cuda_transformer(const Job&);
void cuda_recurrent(const Job&);
