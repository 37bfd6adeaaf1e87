#pragma once
#include <iomanip>
#include <locale>

#include "attn/train/checkpoint.hpp"

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
    std::ifstream in(list());
    for (Entry entry; in >> entry.step >> entry.value;)
      if (file_exists(path_of(entry.step))) entries_.push_back(entry);
    std::ranges::stable_sort(entries_, {}, &Entry::value);
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

/// Saves a training to a folder, which it creates: model.safetensors is the best model so far, training.safetensors the
/// state to resume from, written at each validation and at the end. Also keeps the best `keep` models
/// (BestModels). With several ranks, the first one writes. Non-finite values end the training, and earlier files
/// stay.
template <class Device>
class CheckpointCallback : public Callback {
 public:
  CheckpointCallback(std::filesystem::path folder, const Trainer<Device>& trainer, Metadata metadata = {}, Index keep = 0)
      : best(folder, keep, leads(trainer)), folder_(std::move(folder)), trainer_(trainer), metadata_(std::move(metadata)) {
    if (leads(trainer)) make_folder(folder_);
  }

  BestModels best;

  void on_step(const StepReport& report) override {
    require(report.non_finite_gradient.empty(), "step ", report.left_out.first, ": the gradient of '",
            report.non_finite_gradient, "' is not finite", remedy());
    if (std::isfinite(report.loss) || report.left_out.count > 0) return;  // the loss of a skipped batch
    finite_weights();                                                     // names the non-finite parameter
    fail("step ", report.step, ": the training loss is ", report.loss,
         ", though all parameters are finite. Nothing was saved", remedy());
  }
  void on_validation(const ValidationReport& report) override {
    require(!saved_ || file_exists(folder_ / "training.safetensors"), "files of ", folder_.string(),
            " were removed during the training. Start again.");
    Weights weights = finite_weights();
    require(std::isfinite(report.loss), "step ", report.step, ": the validation loss is ", report.loss,
            ", though all parameters are finite. Nothing was saved", remedy());
    if (report.best || best.wants(report.value)) {
      if (trainer_.optimiser.averages_weights()) {
        const ScopedWeights use(trainer_.optimiser);
        save_model_of(report, checkpoint::copy_of(trainer_.parameters));
      } else {
        save_model_of(report, weights);
      }
    }
    save(std::move(weights));
  }
  void on_end() override { save(finite_weights()); }

 private:
  using Weights = checkpoint::Tensors<typename Device::Real>;

  static bool leads(const Trainer<Device>& trainer) {
    return trainer.ranks() == nullptr || trainer.ranks()->communicator().leads();
  }

  /// Checks and returns one host copy of the weights, so that the checked values are those saved.
  Weights finite_weights() const {
    Weights weights = checkpoint::copy_of(trainer_.parameters);
    const std::string bad = weights.first_not_finite();
    require(bad.empty(), "step ", trainer_.state.step, ": parameter '", bad, "' is no longer finite. Nothing was saved",
            remedy());
    return weights;
  }
  void save_model_of(const ValidationReport& report, const Weights& weights) {
    const auto save_to = [&](const auto& path) { weights.save(path, metadata_); };
    if (report.best && leads(trainer_)) save_to(folder_ / "model.safetensors");
    if (best.wants(report.value)) best.add({report.step, report.value}, save_to);
  }
  void save(Weights weights) {
    checkpoint::save_training(folder_ / "training.safetensors", std::move(weights), trainer_.parameters, trainer_.optimiser,
                              trainer_.state, metadata_, trainer_.ranks());
    saved_ = leads(trainer_);
  }
  std::string remedy() const {
    const auto last = folder_ / "training.safetensors";
    return file_exists(last)
               ? ". Continue from the last good checkpoint, " + last.string() + ", with a lower learning rate."
               : ". Start again with a lower learning rate.";
  }

  std::filesystem::path folder_;
  const Trainer<Device>& trainer_;
  Metadata metadata_;
  bool saved_ = false;
};

}  // namespace attn
