#include "command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <thread>

#include "attn/run/model_registry.hpp"
#include "attn/version.hpp"

namespace {

/// How many letters have to be changed, added or left out (Levenshtein).
std::size_t distance(const std::string& a, const std::string& b) {
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
std::string suggestion(const CLI::App& app, const std::string& given) {
  std::string nearest;
  std::size_t least = std::max<std::size_t>(2, given.size() / 3) + 1;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (const std::size_t d = distance(given, "--" + name); d < least) least = d, nearest = "--" + name;
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

/// Ends the program: with help or the version, or by saying what is wrong.
[[noreturn]] void end_of_command_line(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) std::exit(app.exit(error));
  std::string what = error.what();
  const std::vector<std::string> left = app.remaining();
  if (!left.empty())
    what = (left[0].starts_with("-") ? "there is no option " + left[0] + suggestion(app, left[0])
                                     : "'" + left[0] + "' is one word too many");
  else if (dynamic_cast<const CLI::ConfigError*>(&error) != nullptr)
    what += "; a configuration file has the options' names without dashes";
  std::cerr << app.get_name() << ": " << what << "\nRun with --help for all options.\n";
  std::exit(error.get_exit_code());
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

}  // namespace

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return number_that<std::int64_t>([=](std::int64_t value) { return value >= least && value <= most; },
                                   "whole number of at least " + std::to_string(least) +
                                       (most == INT64_MAX ? "" : " and at most " + std::to_string(most)));
}

CLI::Validator number(double least, double most) {
  std::ostringstream range;
  range << "number from " << least << " to " << most;
  return number_that<double>([=](double value) { return value >= least && value <= most; }, range.str());
}

CLI::Validator positive_number() {
  return number_that<double>([](double value) { return value > 0 && std::isfinite(value); }, "number above 0");
}

void add_device_options(CLI::App& app, attn::DeviceOptions& device) {
  const AddOptions add{app, "Device"};
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  add("--device", device.device, "cpu, cuda, or auto: a GPU if this program was built for one and finds one",
      CLI::IsMember({"cpu", "cuda", "auto"}));
  add("--threads", device.threads, "CPU: cores to use; 0: all", whole_number(0, cores));
  add("--gpu", device.gpu, "GPU: which one, where there are several", whole_number(0));
  add("--precision", device.precision,
      "float, bf16 (on a CPU that can: for matrix products), or auto: bf16 on a GPU, float on the CPU",
      CLI::IsMember({"auto", "bf16", "float"}));
  add("--tf32", device.tf32, "GPU, with --precision float: matrix products of operands rounded to TF32, faster");
}

void read_command_line(CLI::App& app, int count, char** words, const std::function<void()>& check) {
  app.set_version_flag("--version", "attn " ATTN_VERSION);
  app.allow_config_extras(CLI::config_extras_mode::error);
  for (CLI::Option* option : app.get_options()) option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  try {
    app.parse(count, words);
    check();
  } catch (const CLI::ParseError& error) {
    end_of_command_line(app, error);
  }
}

void say_device(std::ostream& out, const attn::DeviceOptions& device) {
  attn::models().check(device);
  const std::string on = attn::backend(device);
  const attn::GpuSupport gpus = attn::gpu_support();
  if (on.starts_with("cuda"))
    out << gpus.found() << "; this run is on GPU " << device.gpu << ", in " << on.substr(5) << "\n";
  else if (device.device == "auto" && gpus.found != nullptr)
    out << gpus.found() << "; this run is on the CPU\n";
}
