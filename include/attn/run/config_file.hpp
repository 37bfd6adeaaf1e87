#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <istream>
#include <string>
#include <vector>

#include "attn/run/nearest_option.hpp"

// The file of --config: name=value, a flag's name alone, or a comment, which begins with # or ;, after a value with a blank
// and #. Quotes keep blanks and a # in a value; an option of several values has a line for each. What the command line gives
// counts more. CLI11's own reader cuts values at blanks and commas into lists, knows sections, takes lists that are empty or
// do not end otherwise in each of its versions, and does not say in which line a value is wrong.

namespace attn::detail {

/// Gives each line's value to its option as it reads it, so that what is wrong is said with file and line: a CLI::ConfigError.
class ConfigReader : public CLI::ConfigTOML {
 public:
  explicit ConfigReader(CLI::App& app) : app_(app) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& lines) const override {
    std::vector<const CLI::Option*> set;
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      if (++number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // some editors begin a file so
      CLI::detail::trim(line);
      if (line.empty() || line[0] == '#' || line[0] == ';') continue;
      try {
        read(line, set);
      } catch (const CLI::ParseError& error) {
        const auto file = app_.get_config_ptr()->as<std::string>();
        throw CLI::ConfigError(file + ", line " + std::to_string(number) + ": " + error.what());
      }
    }
    return {};  // nothing is left to do for CLI11
  }

 private:
  static constexpr const char* kLines = "; lines are name=value, named as the options without their dashes";

  /// Of several values of one option the last counts where one is wanted; `set` are the options that have one of this file.
  void read(const std::string& line, std::vector<const CLI::Option*>& set) const {
    if (line[0] == '[') throw CLI::ConfigError(line + " begins a section" + kLines);
    const std::size_t equals = line.find('=');
    std::string name = line.substr(0, std::min(equals, line.find(" #")));
    name.erase(0, name.find_first_not_of('-'));
    CLI::detail::trim(name);
    if (name.empty()) throw CLI::ConfigError("'" + line + "' names no option" + kLines);
    CLI::Option* option = app_.get_option_no_throw("--" + name);
    if (option == nullptr) {
      const std::string meant = suggestion(app_, "--" + name);
      throw CLI::ConfigError("there is no option --" + name + (meant.empty() ? kLines : meant));
    }
    if (!option->get_configurable()) throw CLI::ConfigError("--" + name + " can stand on the command line alone");
    const bool flag = option->get_expected_min() == 0, valued = equals < line.size();
    if (!flag && !valued) throw CLI::ConfigError("'" + name + "' has no value" + kLines);
    const std::string value = valued ? value_of(name, line.substr(equals + 1)) : "true";
    if (std::ranges::find(set, option) == set.end()) {
      if (!option->empty()) return;  // the command line has it
      set.push_back(option);
    }
    try {
      option->add_result(flag ? option->get_flag_value(name, value) : value)->run_callback();
    } catch (const CLI::ConversionError&) {
      throw CLI::ConfigError("--" + name + ": '" + value + (flag ? "' is neither true nor false" : "' is no value of it"));
    }
  }

  static std::string value_of(const std::string& name, std::string text) {
    const auto fail = [&](const char* what) { throw CLI::ConfigError("'" + name + "' has " + what); };
    CLI::detail::ltrim(text);
    const std::size_t quote = text.starts_with('"') || text.starts_with('\'') ? text.find(text[0], 1) : 0;
    if (quote == std::string::npos) fail("a quote that does not end; end it in its line");
    const std::size_t comment = text.starts_with('#') ? 0 : text.find(" #", quote);
    text.resize(std::min(comment, text.size()));
    CLI::detail::rtrim(text);
    if (text.empty()) fail("no value after its =; give one, or leave the line out");
    if (text[0] == '[') fail("a list; each value has a line of its own");
    if (quote == 0) return text;
    if (quote + 1 != text.size()) fail("more than what is quoted; quote all of its value, or nothing");
    return text.substr(1, quote - 1);
  }

  CLI::App& app_;
};

}  // namespace attn::detail
