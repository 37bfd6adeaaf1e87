#pragma once
#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/numbered_files.hpp"
#include "attn/core/types.hpp"
#include "attn/text/wire_format.hpp"
#include "attn/train/callback.hpp"

namespace attn {

namespace tensorboard {

/// A figure under its name: a chart's name, "loss", or with its group, "validation/loss".
struct Scalar {
  std::string tag;
  double value;  // a float in the file
};

/// The checksum CRC-32C (Castagnoli).
constexpr std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78U : 0U);
  }
  return ~crc;
}

/// Data as a record of a file of records: its length, the length's checksum, itself, its checksum. A checksum of bytes that
/// hold one tells little, so these are rotated and moved.
inline std::string record(std::string_view data) {
  const auto checksum = [](std::string_view bytes) { return wire::fixed32(std::rotr(crc32c(bytes), 15) + 0xA282EAD8U); };
  const std::string length = wire::fixed64(data.size());
  return length + checksum(length) + std::string(data) + checksum(data);
}

// Messages of the type Event. The time is in seconds since 1970.

inline std::string version_event(double time) { return wire::real(1, time) + wire::bytes(3, "brain.Event:2"); }

/// A training goes on with this step: what was said of it and of later ones no longer holds.
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

/// A training's figures for TensorBoard: `tensorboard --logdir FOLDER` draws them while it runs. They are named as in the
/// log's lines, training/loss, validation/perplexity, ..., and written to events.out.tfevents.SECONDS.attn.
class TensorBoard : public Callback {
 public:
  /// Begins a file. A training that is resumed keeps the files there are, and TensorBoard shows of them what led to where it
  /// resumed; a new one removes them.
  explicit TensorBoard(const std::filesystem::path& folder, std::optional<Index> resumed_at = {})
      : path_(next_file(folder, !resumed_at)), out_(path_, std::ios::binary) {
    require(out_.is_open(), "cannot write ", path_.string(), "; check that its folder exists and may be written to");
    append(tensorboard::version_event(now()));
    if (resumed_at) append(tensorboard::start_event(now(), *resumed_at + 1));
  }

  /// Whether a file is named as those that it writes.
  static bool is_file(std::string_view name) { return is_numbered(name, kPrefix, ".attn"); }

  /// Any figures, after so many steps.
  void write(Index step, const std::vector<tensorboard::Scalar>& scalars) {
    append(tensorboard::scalars_event(now(), step, scalars));
  }

  void on_step(const StepReport& report) override {
    std::vector<tensorboard::Scalar> scalars{{"training/loss", report.loss},
                                             {"training/rate", report.rate},
                                             {"training/tokens_per_second", report.tokens_per_second}};
    if (report.gradient_norm) scalars.push_back({"training/gradient_norm", *report.gradient_norm});
    for (const LossTerm& term : report.terms) scalars.push_back({"training/" + term.name, term.value});
    write(report.step, scalars);
  }
  void on_validation(const ValidationReport& report) override {
    std::vector<tensorboard::Scalar> scalars{{"validation/loss", report.loss},
                                             {"validation/perplexity", report.perplexity()}};
    if (report.score) scalars.push_back({"validation/score", *report.score});
    if (report.source_gain) scalars.push_back({"validation/source_gain", *report.source_gain});
    write(report.step, scalars);
  }

 private:
  static constexpr std::string_view kPrefix = "events.out.tfevents.";

  static double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

  /// TensorBoard reads the files of a folder by their names' order, so a new one is named after all that are there.
  static std::filesystem::path next_file(const std::filesystem::path& folder, bool remove_others) {
    auto seconds = static_cast<std::int64_t>(now());
    std::error_code none;  // where there is no folder, opening the file says so
    std::vector<std::filesystem::path> others;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
      const std::string name = entry.path().filename().string();
      std::int64_t then = 0;
      if (!name.starts_with(kPrefix)) continue;
      std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), then);
      if (remove_others && is_file(name))
        others.push_back(entry.path());
      else
        seconds = std::max(seconds, then + 1);
    }
    for (const auto& other : others) std::filesystem::remove(other);
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
