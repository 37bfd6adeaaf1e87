#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "attn/run/device_options.hpp"
#include "experiment.hpp"

/// Everything that europarl_train can be told.
struct Options {
  attn::DeviceOptions device;
  Experiment experiment = ::experiment("coursework");  // with the recipe and the rows that the command line asks for
  std::vector<std::uint64_t> seeds{1};
  int jobs = 1;  // runs at a time
  std::filesystem::path data = "../shared/data";
  std::filesystem::path output = "runs/europarl";
  attn::Index maps = 10;  // sentences
  bool resume = false, overwrite = false;
  std::string command;  // as it was typed

  /// Where the experiment's runs lie, and one of them.
  std::filesystem::path group() const { return output / experiment.name; }
  std::filesystem::path folder(const Row& row, std::uint64_t seed) const {
    return group() / row.name / ("seed" + std::to_string(seed));
  }
};

/// Reads the command line; prints help or what is wrong and ends the program where that is all there is to do.
Options read_options(int count, char** words);
