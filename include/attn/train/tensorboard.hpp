#pragma once
#include <charconv>
#include <chrono>
#include <fstream>

#include "attn/core/file.hpp"
#include "attn/text/wire_format.hpp"
#include "attn/train/callback.hpp"

namespace attn {

namespace tensorboard {

/// A value with its tag: "loss", or with a group, "validation/loss".
struct Scalar {
  std::string tag;
  double value;  // stored as float
};

/// CRC-32C (Castagnoli).
constexpr std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78U : 0U);
  }
  return ~crc;
}

/// Frames data as a TFRecord: length, checksum of the length, data, checksum of the data. Checksums are masked, because the
/// CRC of bytes that contain their CRC is weak.
inline std::string record(std::string_view data) {
  const auto checksum = [](std::string_view bytes) { return wire::fixed32(std::rotr(crc32c(bytes), 15) + 0xA282EAD8U); };
  const std::string length = wire::fixed64(data.size());
  return length + checksum(length) + std::string(data) + checksum(data);
}

// Messages of type Event. Times are seconds since 1970.

inline std::string version_event(double time) { return wire::real(1, time) + wire::bytes(3, "brain.Event:2"); }

/// Marks a resumed training: TensorBoard drops earlier events of this step and later ones.
inline std::string start_event(double time, Index step) {
  return wire::real(1, time) + wire::number(2, static_cast<std::uint64_t>(step)) + wire::bytes(7, wire::number(1, 1));
}

inline std::string scalars_event(double time, Index step, const std::vector<Scalar>& scalars) {
  std::string summary;
  for (const Scalar& scalar : scalars)
    summary += wire::bytes(1, wire::bytes(1, scalar.tag) + wire::real(2, static_cast<float>(scalar.value)));
  return wire::real(1, time) + wire::number(2, static_cast<std::uint64_t>(step)) + wire::bytes(5, summary);
}

}  // namespace tensorboard

/// Writes the metrics of a training for TensorBoard (`tensorboard --logdir FOLDER`). Tags match the events of the log:
/// training/loss, validation/perplexity, ... The file is events.out.tfevents.SECONDS.attn.
class TensorBoard : public Callback {
 public:
  /// Starts a new file. A resumed training keeps the existing files; TensorBoard hides the steps that are repeated. A new
  /// training removes them.
  explicit TensorBoard(const std::filesystem::path& folder, std::optional<Index> resumed_at = {})
      : path_(next_file(folder, !resumed_at)), out_(path_, std::ios::binary) {
    require(out_.is_open(), "cannot write ", path_.string(), "; check that its folder exists and may be written to");
    append(tensorboard::version_event(now()));
    if (resumed_at) append(tensorboard::start_event(now(), *resumed_at + 1));
  }

  /// Whether a file name follows this class's pattern.
  static bool is_file(std::string_view name) { return is_numbered(name, kPrefix, ".attn"); }

  /// Writes any scalars for a step.
  void write(Index step, const std::vector<tensorboard::Scalar>& scalars) {
    append(tensorboard::scalars_event(now(), step, scalars));
  }

  void on_step(const StepReport& report) override {
    std::vector<tensorboard::Scalar> scalars{{"training/loss", report.loss},
                                             {"training/rate", report.rate},
                                             {"training/tokens_per_second", report.tokens_per_second}};
    if (report.gradient_norm) scalars.push_back({"training/gradient_norm", *report.gradient_norm});
    for (const auto& [layer, norm] : report.gradient_norms) scalars.push_back({"training/gradient_norms/" + layer, norm});
    for (const LossTerm& term : report.terms) scalars.push_back({"training/" + term.name, term.value});
    write(report.step, scalars);
  }
  void on_validation(const ValidationReport& report) override {
    std::vector<tensorboard::Scalar> scalars{{"validation/loss", report.loss}};
    if (report.likelihood) scalars.push_back({"validation/perplexity", report.perplexity()});
    if (report.score) scalars.push_back({"validation/score", *report.score});
    if (report.source_gain) scalars.push_back({"validation/source_gain", *report.source_gain});
    write(report.step, scalars);
  }

 private:
  static constexpr std::string_view kPrefix = "events.out.tfevents.";

  static double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

  /// TensorBoard reads the files of a folder in name order, so a new file sorts after all existing ones.
  static std::filesystem::path next_file(const std::filesystem::path& folder, bool remove_others) {
    if (remove_others) remove_files(folder, is_file);
    auto seconds = static_cast<std::int64_t>(now());
    std::error_code none;  // if the folder is missing, opening the file reports it
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
      const std::string name = entry.path().filename().string();
      std::int64_t then = 0;
      if (!name.starts_with(kPrefix)) continue;
      std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), then);
      seconds = std::max(seconds, then + 1);
    }
    return folder / (std::string(kPrefix) + std::to_string(seconds) + ".attn");
  }

  void append(std::string_view event) {
    out_ << tensorboard::record(event) << std::flush;
    require(out_.good(), "cannot write ", path_.string(), "; is the disk full?");
  }

  std::filesystem::path path_;
  std::ofstream out_;
};

}  // namespace attn
