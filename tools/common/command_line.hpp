#pragma once
#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "attn/checkpoint/json.hpp"
#include "attn/checkpoint/safetensors.hpp"
#include "attn/run/device_options.hpp"
#include "attn/version.hpp"
#include "common/config_file.hpp"
#include "common/help.hpp"
#include "common/setting_names.hpp"
#include "common/standard_output.hpp"

// Shared command-line code. Needs CLI11, as do config_file.hpp, help.hpp, search_flags.hpp and
// training_command_line.hpp: link CLI11::CLI11.
//
// An option list is a function that calls `add(name, value, what, check)` for each option. AddOptions parses the values of
// the command line; NoteSettings writes values as text by name, and ReadSettings reads them again.
//
//     void list_training(const auto& add, Settings& s) {
//       add("--epochs", s.epochs, "Passes over the training text", whole_number(1));
//       add("--amsgrad", s.amsgrad, "Adam divides by the largest second moment so far");
//     }
//     list_training(AddOptions{app, "Training"}, s);   // --help, and the command line's values
//     list_training(NoteSettings{config.settings}, s);   // {"epochs": "10", "amsgrad": "false"}
//     list_training(ReadSettings{config.settings, "model.json"}, s);

namespace attn {

namespace detail {

/// Accepts text that is entirely a number within limits; otherwise reports that it is not a `what`.
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

/// The name of an option without dashes: "shared" of "--shared,!--not-shared".
inline std::string setting_of(const std::string& names) { return names.substr(2, names.find(',') - 2); }

}  // namespace detail

/// Validators whose messages name the given and the valid values.
inline CLI::Validator whole_number(std::int64_t least, std::int64_t most = 1'000'000'000) {
  return detail::number_that<std::int64_t>([=](std::int64_t value) { return value >= least && value <= most; },
                                           "whole number of at least " + std::to_string(least) +
                                               (most == INT64_MAX ? "" : " and at most " + std::to_string(most)));
}

/// Accepts finite numbers in a range.
inline CLI::Validator number(double least, double most) {
  std::ostringstream range;
  range << "number from " << least << " to " << most;
  return detail::number_that<double>([=](double value) { return value >= least && value <= most; }, range.str());
}

inline CLI::Validator positive_number() {
  return detail::number_that<double>([](double value) { return value > 0 && std::isfinite(value); }, "number above 0");
}

/// Accepts one of the given words.
inline CLI::Validator one_of(const std::vector<std::string>& words) {
  std::string known;
  for (const std::string& word : words) known += (known.empty() ? "" : ", ") + word;
  const auto check = [=](const std::string& text) {
    return std::ranges::find(words, text) != words.end() ? "" : "'" + text + "' is not one of " + known;
  };
  return {check, ""};
}

/// Adds options to a command-line group.
struct AddOptions {
  CLI::App& app;
  const char* group;

  template <class Value>
  CLI::Option* operator()(const char* name, Value& value, const char* what, const CLI::Validator& check = {}) const {
    if constexpr (std::is_same_v<Value, bool>)
      return app.add_flag(name, value, what)->group(group);
    else if constexpr (std::is_enum_v<Value>)
      return add_choice(name, value, what);
    else
      return app.add_option(name, value, what)->group(group)->check(check);
  }

  /// Adds an option for an enumeration (setting_names.hpp).
  template <class Enum>
  CLI::Option* add_choice(const char* name, Enum& value, const char* what) const {
    std::vector<std::string> words;
    for (const auto& entry : setting_names<Enum>) words.emplace_back(entry.name);
    const auto set = [&value](const std::string& word) { value = *setting_value<Enum>(word); };
    return app.add_option_function<std::string>(name, set, what)->group(group)->check(CLI::IsMember(words));
  }
};

/// Records option values under their names without dashes.
struct NoteSettings {
  Metadata& settings;

  void operator()(const std::string& names, const nlohmann::json& value, const auto&...) const {
    settings[detail::setting_of(names)] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void operator()(const std::string& names, Enum value, const auto&...) const {
    (*this)(names, nlohmann::json(setting_name(value)));
  }
};

/// Sets options to the values that NoteSettings wrote; leaves options without a setting. `where` begins the Error about a
/// value of another type.
struct ReadSettings {
  const Metadata& settings;
  std::string where;

  template <class Value>
  void operator()(const std::string& names, Value& value, const auto&...) const {
    const auto found = settings.find(detail::setting_of(names));
    require(found == settings.end() || set(value, found->second), where, ": the setting ", detail::setting_of(names),
            " cannot be '", found == settings.end() ? "" : found->second, "'");
  }

 private:
  template <class Value>
  static bool set(Value& value, const std::string& text) {
    if constexpr (std::is_same_v<Value, std::string>) {
      value = text;
    } else if constexpr (std::is_enum_v<Value>) {
      const auto named = setting_value<Value>(text);
      if (named) value = *named;
      return named.has_value();
    } else {
      try {
        value = parse_json(text).get<Value>();
      } catch (const nlohmann::json::exception&) {
        return false;
      }
    }
    return true;
  }
};

/// Adds --device, --threads, --gpu, --precision and --tf32.
inline void add_device_options(CLI::App& app, DeviceOptions& device) {
  const AddOptions add{app, "Device"};
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  add("--device", device.device, "cpu, cuda, or auto: a GPU if the program supports and finds one",
      CLI::IsMember({"cpu", "cuda", "auto"}));
  add("--threads", device.threads, "CPU: number of threads; 0: one per core", whole_number(0, cores));
  add("--gpu", device.gpu, "GPU: its index", whole_number(0));
  add("--precision", device.precision,
      "float, bf16 (on a CPU: matrix products only, if supported), int8 (CPU translation only), or auto: bf16 on a GPU, "
      "float on the CPU",
      CLI::IsMember({"auto", "bf16", "float", "int8"}));
  add("--tf32", device.tf32, "GPU with --precision float: faster matrix products in TF32");
}

/// The command as typed, for the record of a run.
inline std::string typed_command(std::string program, int count, char** words) {
  for (int i = 1; i < count; ++i) program += std::string(" ") + words[i];
  return program;
}

/// Explains a command-line error; suggests the nearest name for an unknown option.
inline std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  const std::string what = error.what();
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 1 && option->get_expected_max() <= 1)
      return option->get_name() + " is given twice. Give it once.";
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && what.find(" required") != what.npos)
    return what.substr(0, what.find(':')) + " needs a value";
  if (dynamic_cast<const CLI::ConfigError*>(&error) != nullptr) return what;
  const std::vector<std::string> left = app.remaining();
  if (!left.empty() && left[0].starts_with("-")) return "unknown option " + left[0] + detail::suggestion(app, left[0]);
  if (!left.empty()) return "'" + left[0] + "' is an unexpected argument";
  return what;
}

/// Common setup: --version, single-valued options that reject repeats, and the --config file reader.
inline void prepare_command_line(CLI::App& app) {
  app.set_version_flag("--version", "attn " ATTN_VERSION, "Print the version");
  app.get_help_ptr()->description("Print an overview; --help TOPIC: one topic; --help all: everything");
  app.config_formatter(std::make_shared<detail::ConfigReader>(app));
  CLI::Option* const config = app.get_config_ptr();
  for (CLI::Option* option : app.get_options())  // with this policy, CLI11 2.4.1 requires --config
    if (option != config && option->get_expected_max() <= 1) option->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  if (config != nullptr) config->check(CLI::ExistingFile);
}

/// Prints help and exits if requested.
inline void print_help(const CLI::App& app, int count, char** words) {
  const std::optional<std::string> topic = topic_asked_for(count, words);
  if (!topic) return;
  if (const auto help = help_on(app, *topic)) {
    std::cout << *help;
    require_written(std::cout, "the help");
    std::exit(0);
  }
  std::cerr << app.get_name() << ": unknown help topic '" << *topic << "'. --help lists the topics.\n";
  std::exit(1);
}

/// Reads the command line. Prints help, the version or an error and exits if there is nothing else to do. `check` verifies
/// option combinations and throws CLI::ValidationError.
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
