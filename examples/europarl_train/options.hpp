#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "attn/run/device_options.hpp"
#include "experiment.hpp"

/// The command line of europarl_train.
struct Options {
  attn::DeviceOptions device;
  Experiment experiment = ::experiment("coursework");  // with the selected recipe and rows
  std::vector<std::uint64_t> seeds{1};
  int jobs = 1;  // parallel runs
  std::filesystem::path data = "../shared/data";
  std::filesystem::path output = "runs/europarl";
  attn::Index maps = 10;  // sentences
  bool resume = false, overwrite = false;
  std::string command;  // as typed

  /// The folder of the experiment's runs, and of one run.
  std::filesystem::path group() const { return output / experiment.name; }
  std::filesystem::path folder(const Row& row, std::uint64_t seed) const {
    return group() / row.name / ("seed" + std::to_string(seed));
  }
};

/// Reads the command line. Prints help or an error and exits if there is nothing else to do.
Options read_options(int count, char** words);
