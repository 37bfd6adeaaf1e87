#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

#include "attn/run/device_options.hpp"
#include "attn/train/safetensors.hpp"

// What the programs' command lines share. A list of options is a function that calls `add(name, value, what, check)` for each
// of them: AddOptions reads their values, NoteSettings writes them down.

/// Checks with messages that say what was given and what is right.
CLI::Validator whole_number(std::int64_t least, std::int64_t most = INT64_MAX);
CLI::Validator number(double least, double most);  // finite
CLI::Validator positive_number();

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
  attn::Metadata& settings;

  void operator()(const std::string& names, const nlohmann::json& value, const auto&...) const {
    const std::string name = names.substr(2, names.find(',') - 2);
    settings[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
};

/// The options --device, --threads, --gpu, --precision and --tf32.
void add_device_options(CLI::App& app, attn::DeviceOptions& device);

/// Reads the command line; prints help, the version or what is wrong, with the nearest name of an option that does not exist,
/// and ends the program where that is all there is to do. `check` looks at options that must fit together: it throws
/// CLI::ValidationError.
void read_command_line(CLI::App& app, int count, char** words, const std::function<void()>& check);

/// Says on a stream where the program will run, as --device names or means it. What is not there is an Error now and not
/// after the text has been read.
void say_device(std::ostream& out, const attn::DeviceOptions& device);
