#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

struct Job;

/// A row of an experiment's table: a model, and what the paper says about it.
struct Row {
  std::string experiment, name, title;
  void (*on_cpu)(const Job&);
  void (*on_gpu)(const Job&);
  std::map<std::string, double> bleu;        // the paper's, by test
  double perplexity = 0, training_loss = 0;  // the paper's, or 0
};

const std::vector<Row>& rows();
std::vector<Row> rows_of(std::string_view experiment);
const Row* find_row(std::string_view experiment, std::string_view name);  // or nullptr

// One function for each family of models and device, in a few files, so that they compile side by side:
// cpu_*.cpp and, where the program is built with CUDA, cuda_*.cu. Each trains the row that the job names.

void cpu_seq2seq(const Job&);
void cpu_additive(const Job&);
void cpu_multiplicative(const Job&);
void cpu_scaled_dot(const Job&);
void cpu_key_value(const Job&);
void cpu_input_feeding(const Job&);
void cpu_lexical(const Job&);
void cpu_transformer(const Job&);
void cuda_seq2seq(const Job&);
void cuda_additive(const Job&);
void cuda_multiplicative(const Job&);
void cuda_scaled_dot(const Job&);
void cuda_key_value(const Job&);
void cuda_input_feeding(const Job&);
void cuda_lexical(const Job&);
void cuda_transformer(const Job&);
