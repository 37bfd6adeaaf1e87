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

#include "attn/run/device_options.hpp"
#include "attn/run/help.hpp"
#include "attn/train/safetensors.hpp"
#include "attn/version.hpp"

// What command lines of programs share. Needs CLI11, as the other headers of command lines do (help.hpp, search_flags.hpp,
// training_command_line.hpp): link CLI11::CLI11.
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

/// How many letters have to be changed, added or left out (Levenshtein).
inline std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j)
      corner = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, corner + (a[i - 1] == b[j - 1] ? 0 : 1)}));
  }
  return row[b.size()];
}

/// "; did you mean --epochs?" or nothing.
inline std::string suggestion(const CLI::App& app, const std::string& given) {
  std::string nearest;
  std::size_t least = std::max<std::size_t>(2, given.size() / 3) + 1;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (const std::size_t d = distance(given, "--" + name); d < least) least = d, nearest = "--" + name;
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

/// Takes what is a number as a whole and within limits; else says that it is not `what`.
template <class Number>
CLI::Validator number_that(const std::function<bool(Number)>& within, const std::string& what) {
  const auto check = [=](const std::string& text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool read = error == std::errc() && end == text.data() + text.size();
    return read && within(value) ? "" : "'" + text + "' is not a " + what;
  };
  return {check, ""};
}

/// Reads a configuration file, line by line: name=value, a flag's name alone, or a comment, which begins with # or ;, after a
/// value with a blank and #. Quotes keep blanks and a # in a value; an option of several values has a line for each. CLI11's
/// own reader cuts values at blanks and commas into lists, knows sections, and takes lists that are empty or do not end
/// otherwise in each of its versions.
struct ConfigReader : CLI::ConfigTOML {
  std::vector<CLI::ConfigItem> from_config(std::istream& lines) const override {
    std::vector<CLI::ConfigItem> items;
    for (std::string line; std::getline(lines, line);) {
      if (items.empty() && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // some editors begin a file so
      CLI::detail::trim(line);
      if (line.empty() || line[0] == '#' || line[0] == ';') continue;
      if (line[0] == '[') throw CLI::ConfigError("the configuration file has a section, " + line + kLines);
      const std::size_t equals = line.find('=');
      std::string name = line.substr(0, std::min(equals, line.find(" #")));
      name.erase(0, name.find_first_not_of('-'));
      CLI::detail::trim(name);
      if (name.empty() || name == "++") throw CLI::ConfigError::Extras(line);  // CLI11 begins a section with ++
      const auto same = [&](const CLI::ConfigItem& item) { return item.name == name; };
      auto item = std::ranges::find_if(items, same);  // of several values the last counts where one is wanted
      if (item == items.end()) item = items.insert(items.end(), {.parents = {}, .name = name, .inputs = {}});
      item->inputs.push_back(equals < line.size() ? value_of(name, line.substr(equals + 1)) : "true");
    }
    return items;
  }

 private:
  static constexpr const char* kLines = ": its lines are name=value";

  static std::string value_of(const std::string& name, std::string text) {
    const auto fail = [&](const char* what) {
      throw CLI::ConfigError("the configuration file gives '" + name + "' " + what + kLines);
    };
    CLI::detail::ltrim(text);
    const std::size_t quote = text.starts_with('"') || text.starts_with('\'') ? text.find(text[0], 1) : 0;
    if (quote == std::string::npos) fail("a quote that does not end");
    const std::size_t comment = text.starts_with('#') ? 0 : text.find(" #", quote);
    text.resize(std::min(comment, text.size()));
    CLI::detail::rtrim(text);
    if (text.empty()) fail("no value");
    if (text[0] == '[') fail("a list, where each value has a line of its own");
    if (quote == 0) return text;
    if (quote + 1 != text.size()) fail("more than what is quoted");
    return text.substr(1, quote - 1);
  }
};

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
  const std::string what = error.what(), unknown = "INI was not able to parse ";
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && what.find(" required") != what.npos)
    return what.substr(0, what.find(':')) + " needs a value after it";
  if (what.starts_with(unknown)) {
    const std::string name = what.substr(unknown.size());
    return "the configuration file sets '" + name + "', and there is no option --" + name +
           detail::suggestion(app, "--" + name) + "; its lines are name=value, named as the options without their dashes";
  }
  const std::vector<std::string> left = app.remaining();
  if (!left.empty() && left[0].starts_with("-")) return "there is no option " + left[0] + detail::suggestion(app, left[0]);
  if (!left.empty()) return "'" + left[0] + "' is one word too many";
  return what;
}

/// What all command lines have: --version; of an option that is given twice the last value; no unknown names in files.
inline void prepare_command_line(CLI::App& app) {
  app.set_version_flag("--version", "attn " ATTN_VERSION, "The version");
  app.get_help_ptr()->description("An overview; --help TOPIC: a topic; --help all: everything");
  app.config_formatter(std::make_shared<detail::ConfigReader>());
  app.allow_config_extras(CLI::config_extras_mode::error);
  for (CLI::Option* option : app.get_options()) option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

/// Prints help, if the words ask for it, and ends the program.
inline void print_help(const CLI::App& app, int count, char** words) {
  const std::optional<std::string> topic = topic_asked_for(count, words);
  if (!topic) return;
  if (const auto help = help_on(app, *topic)) {
    std::cout << *help << std::flush;
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
    if (error.get_exit_code() == 0) std::exit(app.exit(error));  // help, version
    std::cerr << app.get_name() << ": " << explain(app, error) << "\nRun with --help for all options.\n";
    std::exit(error.get_exit_code());
  }
}

}  // namespace attn
