#pragma once
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "workload.hpp"

using Json = nlohmann::ordered_json;  // a measurement

/// The command line, and whether a measurement failed.
struct Run {
  std::vector<std::string> only;  // name prefixes, or full names with --profile; empty: all
  bool quick = false, profile = false, failed = false;

  Run(int count, char** words) {
    for (int i = 1; i < count; ++i) {
      const std::string word = words[i];
      if (word == "--quick") {
        quick = true;
      } else if (word == "--profile") {
        profile = true;
      } else if (word == "--only" && i + 1 < count) {
        std::istringstream names(words[++i]);
        for (std::string name; std::getline(names, name, ',');) only.push_back(name);
      } else {
        attn::fail(word, " is not an option. Options: --only NAME,... --quick --profile");
      }
    }
  }

  bool wants(const std::string& name) const {
    const auto meant = [&](const std::string& word) { return profile ? name == word : name.rfind(word, 0) == 0; };
    return only.empty() || std::any_of(only.begin(), only.end(), meant);
  }
  int repeats(int usually) const { return quick ? 3 : usually; }

  static void print(const Json& line) {
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  }

  /// Runs measure(name) if the name is selected. A failure is printed, and other measurements continue.
  template <class Measure>
  void operator()(const std::string& name, const Measure& measure) {
    if (!wants(name)) return;
    try {
      const double seconds = host_seconds([&] { measure(name); });
      std::fprintf(stderr, "%s: %.1f s in all\n", name.c_str(), seconds);
    } catch (const std::exception& error) {
      failed = true;
      print({{"name", name}, {"mode", "attn"}, {"failed", error.what()}});
    }
  }
};
