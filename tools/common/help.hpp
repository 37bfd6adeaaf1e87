#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Help that fits a screen. Option groups are topics: --help lists them, --help TOPIC shows one, --help all shows
// everything. If all options fit, --help shows them directly.

namespace attn {

/// Wraps text at `width` characters between words; indents all lines but the first.
inline std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string lines;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (column > 0 && column + 1 + word.size() > width) {
      lines += '\n' + std::string(indent, ' ');
      column = 0;
    } else if (column > 0) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

/// Wraps descriptions at 100 columns and puts the allowed values at the end.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool positional) const override {
    std::string type = make_option_opts(option), description = make_option_desc(option);
    if (const auto first = type.find(":{"); first != type.npos) {
      const auto last = type.find('}', first);
      description += " " + type.substr(first + 1, last - first);
      type.erase(first, last + 1 - first);
    }
    if (type.starts_with(" TEXT:")) type.erase(1, 5);
    const std::string initial = option->get_default_str(), later = " [" + initial + "] ";  // CLI11 2.4 and later
    if (const auto at = type.find(later); at != type.npos) type.replace(at, later.size(), "=" + initial);
    std::string line = "  " + make_option_name(option, positional) + type;
    line += line.size() < kColumn ? std::string(kColumn - line.size(), ' ') : "\n" + std::string(kColumn, ' ');
    return line + wrap(description, kWidth - kColumn, kColumn) + "\n";
  }

  /// Description, usage and all options.
  std::string everything(const CLI::App& app) const {
    std::string text = beginning(app);
    for (const std::string& group : app.get_groups())
      if (!group.empty() && !members(app, group).empty()) text += "\n" + options(app, group);
    return text;
  }

  /// The description and usage, with a list of topics and their option names.
  std::string overview(const CLI::App& app) const {
    std::string text = beginning(app) + "\nTopics (--help TOPIC: one topic; --help all: everything):\n";
    for (const std::string& group : app.get_groups()) {
      std::string line = "  " + topic(group);
      line.resize(std::max<std::size_t>(line.size() + 2, 16), ' ');
      const std::string all = names(app, group);
      line += all.size() + line.size() <= kWidth ? all : all.substr(0, all.rfind(' ', kWidth - 4 - line.size())) + " ...";
      if (!all.empty()) text += line + "\n";
    }
    return text;
  }

  /// Options of one group.
  std::string options(const CLI::App& app, const std::string& group) const {
    const std::string title = group == "OPTIONS" ? "Options" : group;  // ungrouped options in CLI11 2.5 and later
    return make_group(title, false, members(app, group)).substr(1);
  }

  /// Topic name of a group: "beam-search" for "Beam search (of hypotheses)".
  static std::string topic(const std::string& group) {
    std::string name = CLI::detail::to_lower(group.substr(0, group.find(" (")));
    std::ranges::replace(name, ' ', '-');
    return name;
  }

 private:
  static constexpr std::size_t kWidth = 100, kColumn = 30;

  /// Same layout as CLI11 2.1; later versions rewrap the description.
  std::string beginning(const CLI::App& app) const {
    const auto positionals = app.get_options([](const CLI::Option* one) { return one->get_positional(); });
    std::string text = app.get_description() + "\nUsage: " + app.get_name() + " [OPTIONS]";
    for (const CLI::Option* one : positionals) text += " " + make_option_usage(one);
    return text + "\n" + (positionals.empty() ? "" : make_group("Positionals", true, positionals));
  }
  static std::vector<const CLI::Option*> members(const CLI::App& app, const std::string& group) {
    return app.get_options([&](const CLI::Option* one) { return one->get_group() == group && one->nonpositional(); });
  }
  static std::string names(const CLI::App& app, const std::string& group) {
    std::string all;
    for (const CLI::Option* option : members(app, group)) all += (all.empty() ? "--" : " --") + option->get_lnames().at(0);
    return all;
  }
};

/// Help text for a topic; nullopt if the topic does not exist.
inline std::optional<std::string> help_on(const CLI::App& app, const std::string& topic) {
  const HelpFormatter help;
  const std::string all = help.everything(app);
  constexpr std::ptrdiff_t kScreen = 24;
  if (topic.empty()) return std::ranges::count(all, '\n') <= kScreen ? all : help.overview(app);
  if (topic == "all") return all;
  for (const std::string& group : app.get_groups())
    if (!group.empty() && HelpFormatter::topic(group).starts_with(topic)) return help.options(app, group);
  return std::nullopt;
}

/// The topic of the first --help on the command line: the next word unless it is an option, otherwise "". nullopt without
/// --help.
inline std::optional<std::string> topic_asked_for(int count, char** words) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word != "--help" && word != "-h") continue;
    const bool named = i + 1 < count && words[i + 1][0] != '-';
    return named ? words[i + 1] : "";
  }
  return std::nullopt;
}

}  // namespace attn
