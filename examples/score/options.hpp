#pragma once
#include <optional>
#include <string>
#include <vector>

#include "attn/metrics/bootstrap.hpp"

struct Options {
  std::vector<std::string> references, systems, metrics{"bleu"};  // no system: standard input
  std::optional<attn::BootstrapOptions> bootstrap;
  bool json = false;
};

Options read_options(int count, char** words);
