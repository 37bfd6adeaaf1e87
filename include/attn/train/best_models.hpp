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
#include "attn/core/numbered_files.hpp"
#include "attn/core/types.hpp"

namespace attn {

/// The best models of a run, each in a file of its own: best/STEP.safetensors in the run's folder, the best `most` of them. Their
/// names and how good they are stand in best/list.txt, so that a run that is resumed knows them.
class BestModels {
 public:
  struct Entry {
    Index step = 0;
    double value = 0;  // lower is better
  };

  /// One that does not write remembers them, and leaves the folder to another process.
  BestModels(const std::filesystem::path& run, Index most, bool writes = true)
      : folder_(run / "best"), most_(most), writes_(writes) {
    read();
  }

  /// Removes those of an earlier run in the same folder, their list and their mean; files of others stay.
  static void remove(const std::filesystem::path& run) {
    remove_files(run / "best", [&](std::string_view name) {
      return name == "list.txt" || name == mean_of(run).filename() || is_numbered(name, "", ".safetensors");
    });
    remove_if_empty(run / "best");
  }

  /// Where a run keeps the mean of them while it is compared.
  static std::filesystem::path mean_of(const std::filesystem::path& run) { return run / "best" / "mean.safetensors"; }

  /// Whether a model of this value belongs to the best.
  bool wants(double value) const { return most_ > 0 && (std::ssize(entries_) < most_ || value < entries_.back().value); }

  /// Lets save(path) write a model that it wants, and removes the worst where there are too many now.
  template <class Save>
  void add(Entry entry, const Save& save) {
    if (writes_) std::filesystem::create_directories(folder_), save(path_of(entry.step));
    std::erase_if(entries_, [&](const Entry& one) { return one.step == entry.step; });
    entries_.insert(std::ranges::upper_bound(entries_, entry.value, {}, &Entry::value), entry);
    std::vector<Entry> worse;
    for (; std::ssize(entries_) > most_; entries_.pop_back()) worse.push_back(entries_.back());
    if (!writes_) return;
    write();  // first the list, then the files that it no longer names
    for (const Entry& one : worse) std::filesystem::remove(path_of(one.step));
  }

  const std::vector<Entry>& entries() const { return entries_; }  // the best first
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
      if (std::filesystem::exists(path_of(entry.step))) entries_.push_back(entry);
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
