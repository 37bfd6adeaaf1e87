#pragma once
#include <CLI/CLI.hpp>
#include <istream>

#include "attn/core/edit_distance.hpp"
#include "attn/core/parameter_groups.hpp"

// Format of the --config file: name=value, a flag's name alone, or a comment. A comment starts with # or ;, or with " #"
// after a value. Quotes preserve blanks and #. List options use one line per value. The command line takes precedence.
// CLI11's own reader splits values at blanks and commas, has sections, handles lists differently across versions, and
// reports no line numbers.

namespace attn::detail {

/// "; did you mean --epochs?" or an empty string.
inline std::string suggestion(const CLI::App& app, const std::string& given) {
  std::string nearest;
  std::size_t least = suggestion_distance(given) + 1;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames())
      if (const std::size_t d = edit_distance(given, "--" + name); d < least) least = d, nearest = "--" + name;
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

/// Applies each line to its option while reading, so that CLI::ConfigError can name the file and line.
class ConfigReader : public CLI::ConfigTOML {
 public:
  explicit ConfigReader(CLI::App& app) : app_(app) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& lines) const override {
    std::vector<const CLI::Option*> set;
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      if (++number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // skip the UTF-8 byte order mark
      CLI::detail::trim(line);
      if (line.empty() || line[0] == '#' || line[0] == ';') continue;
      try {
        read(line, set);
      } catch (const CLI::ParseError& error) {
        const auto file = app_.get_config_ptr()->as<std::string>();
        throw CLI::ConfigError(file + ", line " + std::to_string(number) + ": " + error.what());
      }
    }
    return {};  // all options are already applied
  }

 private:
  static constexpr const char* kLines = ". Lines are name=value, where name is an option without its dashes.";

  /// `set`: options that already have a value from this file.
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
      throw CLI::ConfigError("unknown option --" + name + (meant.empty() ? kLines : meant));
    }
    if (!option->get_configurable()) throw CLI::ConfigError("--" + name + " is allowed on the command line only");
    const bool flag = option->get_expected_min() == 0, valued = equals < line.size();
    if (!flag && !valued) throw CLI::ConfigError("'" + name + "' has no value" + kLines);
    const std::string value = valued ? value_of(name, line.substr(equals + 1)) : "true";
    if (std::ranges::find(set, option) == set.end()) {
      if (!option->empty()) return;  // the command line takes precedence
      set.push_back(option);
    } else if (option->get_expected_max() <= 1) {
      throw CLI::ConfigError("'" + name + "' is given twice. Give it once.");
    }
    try {
      option->add_result(flag ? option->get_flag_value(name, value) : value)->run_callback();
    } catch (const CLI::ConversionError&) {
      throw CLI::ConfigError("--" + name + ": '" + value +
                             (flag ? "' is neither true nor false" : "' is not a valid value"));
    }
  }

  static std::string value_of(const std::string& name, std::string text) {
    const auto fail = [&](const char* what) { throw CLI::ConfigError("'" + name + "' has " + what); };
    CLI::detail::ltrim(text);
    const std::size_t quote = text.starts_with('"') || text.starts_with('\'') ? text.find(text[0], 1) : 0;
    if (quote == std::string::npos) fail("an unclosed quote. Close it on the same line.");
    const std::size_t comment = text.starts_with('#') ? 0 : text.find(" #", quote);
    text.resize(std::min(comment, text.size()));
    CLI::detail::rtrim(text);
    if (text.empty()) fail("no value after its =. Give one, or remove the line.");
    if (text[0] == '[') fail("a list. Write one line per value.");
    if (quote == 0) return text;
    if (quote + 1 != text.size()) fail("text outside its quotes. Quote the whole value, or nothing.");
    return text.substr(1, quote - 1);
  }

  CLI::App& app_;
};

}  // namespace attn::detail
