#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "options.hpp"

/// The options of translate that say how to search, and what of it to print.
class SearchFlags {
 public:
  SearchFlags(CLI::App& app, Options& options);

  /// After the command line was read: what it means. Throws CLI::ValidationError where options do not go together.
  void apply(Options& options);

 private:
  attn::SearchOptions search_;
  attn::Sampling sampling_;
  std::string penalty_ = "length";
  std::int64_t n_best_ = 0;
  bool sample_ = false;
  CLI::Option *beam_, *complete_, *amount_;
  std::vector<CLI::Option*> of_sampling_, of_either_;
};
