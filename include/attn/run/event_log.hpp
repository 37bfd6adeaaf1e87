#pragma once
#include <cerrno>
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

  /// Prints a line that is in the log already. A pipe that nobody reads any more is no error here: SIGPIPE asks the training to
  /// stop (run/stop_signal.hpp), and where that is ignored it goes on without the stream, which stays bad.
  void print(const std::string& line) const {
    if (json == nullptr || json->rdbuf() == nullptr) return;
    errno = 0;
    if ((*json << line << "\n").flush().fail() && errno == EPIPE)
      json->rdbuf(nullptr);
    else
      require_written(*json, "the lines of the log");
  }

  /// Adds an event after the training, which has the log while it runs, and prints it.
  void add(const nlohmann::json& event) const {
    append_to_log(folder, event);
    print(json_text(event));
  }
};

}  // namespace attn
