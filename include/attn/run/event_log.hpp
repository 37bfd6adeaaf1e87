#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "attn/run/run_folder.hpp"
#include "attn/run/standard_output.hpp"
#include "attn/train/json_text.hpp"

namespace attn {

/// The log of a run's folder and, where a program speaks JSON, its lines on a stream.
struct EventLog {
  std::filesystem::path folder;
  std::ostream* json = nullptr;

  /// Prints a line that is in the log already.
  void print(const std::string& line) const {
    if (json == nullptr) return;
    *json << line << "\n";
    require_written(*json, "the lines of the log");
  }

  /// Adds an event after the training, which has the log while it runs, and prints it.
  void add(const nlohmann::json& event) const {
    append_to_log(folder, event);
    print(json_text(event));
  }
};

}  // namespace attn
