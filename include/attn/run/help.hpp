#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Help that fits a screen. The groups of a command line's options are its topics: --help lists them, --help TOPIC shows the
// options of one, --help all everything. Few options need no topics: --help shows them all.

namespace attn {

/// Lines of at most `width` characters, broken between words; all but the first are indented.
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

/// An option's description is wrapped at 100 columns, and the words that it may be given stand at the description's end.
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
    const std::string initial = option->get_default_str(), later = " [" + initial + "] ";  // CLI11 since 2.4
    if (const auto at = type.find(later); at != type.npos) type.replace(at, later.size(), "=" + initial);
    std::string line = "  " + make_option_name(option, positional) + type;
    line += line.size() < kColumn ? std::string(kColumn - line.size(), ' ') : "\n" + std::string(kColumn, ' ');
    return line + wrap(description, kWidth - kColumn, kColumn) + "\n";
  }

  /// What the program is for, how it is called, and all options.
  std::string everything(const CLI::App& app) const {
    std::string text = beginning(app);
    for (const std::string& group : app.get_groups())
      if (!group.empty() && !members(app, group).empty()) text += "\n" + options(app, group);
    return text;
  }

  /// The same with topics, and the names of their options.
  std::string overview(const CLI::App& app) const {
    std::string text = beginning(app) + "\nTopics, of which --help TOPIC says more, and --help all everything:\n";
    for (const std::string& group : app.get_groups()) {
      std::string line = "  " + topic(group);
      line.resize(std::max<std::size_t>(line.size() + 2, 16), ' ');
      const std::string all = names(app, group);
      line += all.size() + line.size() <= kWidth ? all : all.substr(0, all.rfind(' ', kWidth - 4 - line.size())) + " ...";
      if (!all.empty()) text += line + "\n";
    }
    return text;
  }

  /// The options of one group.
  std::string options(const CLI::App& app, const std::string& group) const {
    const std::string title = group == "OPTIONS" ? "Options" : group;  // of options without a group, since CLI11 2.5
    return make_group(title, false, members(app, group)).substr(1);
  }

  /// A group as it is asked for: "beam-search" for "Beam search (of hypotheses)".
  static std::string topic(const std::string& group) {
    std::string name = CLI::detail::to_lower(group.substr(0, group.find(" (")));
    std::ranges::replace(name, ' ', '-');
    return name;
  }

 private:
  static constexpr std::size_t kWidth = 100, kColumn = 30;

  /// As CLI11 2.1 has it; later ones break the description's lines anew.
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

/// What --help shows of a topic; nothing where there is no such topic.
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

/// The topic of the first --help among the words of a command line: the word after it, if that is no option; "" where there
/// is none. Nothing where help is not asked for.
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
