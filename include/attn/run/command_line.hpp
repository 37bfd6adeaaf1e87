#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "attn/run/config_file.hpp"
#include "attn/run/device_options.hpp"
#include "attn/run/help.hpp"
#include "attn/run/nearest_option.hpp"
#include "attn/run/standard_output.hpp"
#include "attn/train/safetensors.hpp"
#include "attn/version.hpp"

// What command lines of programs share. Needs CLI11, as the other headers of command lines do (config_file.hpp,
// help.hpp, nearest_option.hpp, search_flags.hpp, training_command_line.hpp): link CLI11::CLI11.
//
// A list of options is a function that calls `add(name, value, what, check)` for each of them: AddOptions reads their values,
// NoteSettings writes them down.
//
//     void list_training(const auto& add, Settings& s) {
//       add("--epochs", s.epochs, "Passes over the training text", whole_number(1));
//       add("--amsgrad", s.amsgrad, "Adam divides by the largest second moment so far");
//     }
//     list_training(AddOptions{app, "Training"}, s);   // --help, and the command line's values
//     list_training(NoteSettings{card.settings}, s);   // {"epochs": "10", "amsgrad": "false"}

namespace attn {

namespace detail {

/// Takes what is a number as a whole and within limits; else says that it is not `what`.
template <class Number>
CLI::Validator number_that(const std::function<bool(Number)>& within, const std::string& what) {
  const auto check = [=](const std::string& text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool read = error == std::errc() && end == text.data() + text.size();
    const std::string why = error == std::errc::result_out_of_range ? "; it is out of range" : "";
    return read && within(value) ? "" : "'" + text + "' is not a " + what + why;
  };
  return {check, ""};
}

}  // namespace detail

/// Checks with messages that say what was given and what is right.
inline CLI::Validator whole_number(std::int64_t least, std::int64_t most = INT64_MAX) {
  return detail::number_that<std::int64_t>([=](std::int64_t value) { return value >= least && value <= most; },
                                           "whole number of at least " + std::to_string(least) +
                                               (most == INT64_MAX ? "" : " and at most " + std::to_string(most)));
}

/// A finite one.
inline CLI::Validator number(double least, double most) {
  std::ostringstream range;
  range << "number from " << least << " to " << most;
  return detail::number_that<double>([=](double value) { return value >= least && value <= most; }, range.str());
}

inline CLI::Validator positive_number() {
  return detail::number_that<double>([](double value) { return value > 0 && std::isfinite(value); }, "number above 0");
}

/// One of a few words.
inline CLI::Validator one_of(const std::vector<std::string>& words) {
  std::string known;
  for (const std::string& word : words) known += (known.empty() ? "" : ", ") + word;
  const auto check = [=](const std::string& text) {
    return std::ranges::find(words, text) != words.end() ? "" : "'" + text + "' is none of " + known;
  };
  return {check, ""};
}

/// Adds options to a group of the command line.
struct AddOptions {
  CLI::App& app;
  const char* group;

  template <class Value>
  CLI::Option* operator()(const char* name, Value& value, const char* what, const CLI::Validator& check = {}) const {
    if constexpr (std::is_same_v<Value, bool>)
      return app.add_flag(name, value, what)->group(group);
    else
      return app.add_option(name, value, what)->group(group)->check(check);
  }
};

/// Writes down the values of options, under their names without dashes.
struct NoteSettings {
  Metadata& settings;

  void operator()(const std::string& names, const nlohmann::json& value, const auto&...) const {
    const std::string name = names.substr(2, names.find(',') - 2);
    settings[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
};

/// The options --device, --threads, --gpu, --precision and --tf32.
inline void add_device_options(CLI::App& app, DeviceOptions& device) {
  const AddOptions add{app, "Device"};
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  add("--device", device.device, "cpu, cuda, or auto: a GPU if this program was built for one and finds one",
      CLI::IsMember({"cpu", "cuda", "auto"}));
  add("--threads", device.threads, "CPU: cores to use; 0: all", whole_number(0, cores));
  add("--gpu", device.gpu, "GPU: which one, where there are several", whole_number(0));
  add("--precision", device.precision,
      "float, bf16 (on a CPU that can: for matrix products), int8 (on a CPU, to translate), or auto: bf16 on a GPU, float "
      "on "
      "the CPU",
      CLI::IsMember({"auto", "bf16", "float", "int8"}));
  add("--tf32", device.tf32, "GPU, with --precision float: matrix products of operands rounded to TF32, faster");
}

/// The command as it was typed, for what a run leaves behind.
inline std::string typed_command(std::string program, int count, char** words) {
  for (int i = 1; i < count; ++i) program += std::string(" ") + words[i];
  return program;
}

/// What is wrong with a command line, in words, with the nearest name of an option that does not exist.
inline std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const std::string what = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && what.find(" required") != what.npos)
    return what.substr(0, what.find(':')) + " needs a value after it";
  if (dynamic_cast<const CLI::ConfigError*>(&error) != nullptr) return what;
  const std::vector<std::string> left = app.remaining();
  if (!left.empty() && left[0].starts_with("-")) return "there is no option " + left[0] + detail::suggestion(app, left[0]);
  if (!left.empty()) return "'" + left[0] + "' is one word too many";
  return what;
}

/// What all command lines have: --version; of an option that is given twice the last value; files of lines name=value.
inline void prepare_command_line(CLI::App& app) {
  app.set_version_flag("--version", "attn " ATTN_VERSION, "The version");
  app.get_help_ptr()->description("An overview; --help TOPIC: a topic; --help all: everything");
  app.config_formatter(std::make_shared<detail::ConfigReader>(app));
  for (CLI::Option* option : app.get_options()) option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

/// Prints help, if the words ask for it, and ends the program.
inline void print_help(const CLI::App& app, int count, char** words) {
  const std::optional<std::string> topic = topic_asked_for(count, words);
  if (!topic) return;
  if (const auto help = help_on(app, *topic)) {
    std::cout << *help;
    require_written(std::cout, "the help");
    std::exit(0);
  }
  std::cerr << app.get_name() << ": --help has no topic '" << *topic << "'; --help alone lists them\n";
  std::exit(1);
}

/// Reads the command line; prints help, the version or what is wrong and ends the program where that is all there is to do.
/// `check` looks at options that must fit together: it throws CLI::ValidationError.
inline void read_command_line(
    CLI::App& app, int count, char** words, const std::function<void()>& check = [] {}) {
  prepare_command_line(app);
  print_help(app, count, words);
  try {
    app.parse(count, words);
    check();
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error);
      require_written(std::cout, "the version");
      std::exit(0);
    }
    std::cerr << app.get_name() << ": " << explain(app, error) << "\nRun with --help for all options.\n";
    std::exit(error.get_exit_code());
  }
}

}  // namespace attn
