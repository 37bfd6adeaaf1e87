#pragma once
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>

#include "attn/checkpoint/json.hpp"
#include "attn/run/run_folder.hpp"
#include "common/standard_output.hpp"

namespace attn {

/// The log in a run's folder, and an optional stream that receives its lines as JSON.
struct EventLog {
  std::filesystem::path folder;
  std::ostream* json = nullptr;

  /// Prints a line that is already in the log. A closed pipe is not an error here: SIGPIPE stops the training
  /// (stop_signal.hpp), or, if ignored, the training continues and the stream stays bad.
  void print(const std::string& line) const {
    if (json == nullptr || json->rdbuf() == nullptr) return;
    errno = 0;
    if ((*json << line << "\n").flush().fail() && errno == EPIPE)
      json->rdbuf(nullptr);
    else
      require_written(*json, "the lines of the log");
  }

  /// Logs and prints an event after the training, which owns the log while it runs.
  void add(const nlohmann::json& event) const {
    append_to_log(folder, event);
    print(json_text(event));
  }
};

}  // namespace attn
