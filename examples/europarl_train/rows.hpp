#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// A row of an experiment's table: a model, and what the paper says about it.
struct Row {
  std::string experiment, name, title;
  std::string model;                         // its name in the registry
  std::map<std::string, double> bleu;        // the paper's, by test
  double perplexity = 0, training_loss = 0;  // the paper's, or 0
};

const std::vector<Row>& rows();
std::vector<Row> rows_of(std::string_view experiment);
const Row* find_row(std::string_view experiment, std::string_view name);  // or nullptr
