#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "attn/run/device_options.hpp"

// What the programs' command lines share.

/// Checks with messages that say what was given and what is right.
CLI::Validator whole_number(std::int64_t least, std::int64_t most = INT64_MAX);
CLI::Validator number(double least, double most);  // finite
CLI::Validator positive_number();

/// The options --device, --threads, --gpu, --precision and --tf32.
void add_device_options(CLI::App& app, attn::DeviceOptions& device);

/// Reads the command line; prints help, the version or what is wrong, with the nearest name of an option that does not exist,
/// and ends the program where that is all there is to do. `check` looks at options that must fit together: it throws
/// CLI::ValidationError.
template <class Check>
void read_command_line(CLI::App& app, int count, char** words, const Check& check);

/// Ends the program as read_command_line does.
[[noreturn]] void end_of_command_line(const CLI::App& app, const CLI::ParseError& error);
void begin_command_line(CLI::App& app);

template <class Check>
void read_command_line(CLI::App& app, int count, char** words, const Check& check) {
  begin_command_line(app);
  try {
    app.parse(count, words);
    check();
  } catch (const CLI::ParseError& error) {
    end_of_command_line(app, error);
  }
}

/// Says on a stream where the program will run, as --device names or means it. What is not there is an Error now and not
/// after the text has been read.
void say_device(std::ostream& out, const attn::DeviceOptions& device);
