#pragma once
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/file.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// Keeps the best `most` models of a run in its folder, as best/STEP.safetensors. best/list.txt stores their steps and
/// values, so that a resumed run knows them.
class BestModels {
 public:
  struct Entry {
    Index step = 0;
    double value = 0;  // lower is better
  };

  /// With `writes` false, tracks the models but leaves the files to another process.
  BestModels(const std::filesystem::path& run, Index most, bool writes = true)
      : folder_(run / "best"), most_(most), writes_(writes) {
    read();
  }

  /// Removes the models of an earlier run in the folder, their list and their mean. Other files stay.
  static void remove(const std::filesystem::path& run) {
    remove_files(run / "best", [&](std::string_view name) {
      return name == "list.txt" || name == mean_of(run).filename() || is_numbered(name, "", ".safetensors");
    });
    remove_if_empty(run / "best");
  }

  /// The file of their mean while the run compares it.
  static std::filesystem::path mean_of(const std::filesystem::path& run) { return run / "best" / "mean.safetensors"; }

  /// Whether a model with this value is among the best.
  bool wants(double value) const { return most_ > 0 && (std::ssize(entries_) < most_ || value < entries_.back().value); }

  /// Calls save(path) to write a model for which wants() is true, and removes the worst if there are too many.
  void add(Entry entry, const auto& save) {
    if (writes_) make_folder(folder_), save(path_of(entry.step));
    std::erase_if(entries_, [&](const Entry& one) { return one.step == entry.step; });
    entries_.insert(std::ranges::upper_bound(entries_, entry.value, {}, &Entry::value), entry);
    std::vector<Entry> worse;
    for (; std::ssize(entries_) > most_; entries_.pop_back()) worse.push_back(entries_.back());
    if (!writes_) return;
    write();  // the list first, then the files it no longer names
    for (const Entry& one : worse) std::filesystem::remove(path_of(one.step));
  }

  const std::vector<Entry>& entries() const { return entries_; }  // best first
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> paths;
    for (const Entry& entry : entries_) paths.push_back(path_of(entry.step));
    return paths;
  }

 private:
  std::filesystem::path path_of(Index step) const { return folder_ / (std::to_string(step) + ".safetensors"); }
  std::filesystem::path list() const { return folder_ / "list.txt"; }

  void read() {
    std::ifstream in(list());
    for (Entry entry; in >> entry.step >> entry.value;)
      if (file_exists(path_of(entry.step))) entries_.push_back(entry);
    std::ranges::stable_sort(entries_, {}, &Entry::value);
  }
  void write() const {
    std::ostringstream lines;
    lines.imbue(std::locale::classic());
    lines << std::setprecision(17);
    for (const Entry& entry : entries_) lines << entry.step << ' ' << entry.value << '\n';
    write_file(list(), lines.str());
  }

  std::filesystem::path folder_;
  Index most_;
  bool writes_;
  std::vector<Entry> entries_;
};

}  // namespace attn
