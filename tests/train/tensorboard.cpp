#include "attn/train/tensorboard.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>

#include "attn/core/file.hpp"
#include "support/files.hpp"

using namespace attn;
using namespace std::string_literals;

namespace {

std::vector<std::filesystem::path> files_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// The data of each record, after its checksums are looked at.
std::vector<std::string> records_of(const std::string& bytes) {
  std::vector<std::string> records;
  for (std::size_t place = 0; place < bytes.size();) {
    std::size_t length = 0;
    for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes.at(place + i));
    records.push_back(bytes.substr(place + 12, length));
    CHECK(bytes.substr(place, length + 16) == tensorboard::record(records.back()));
    place += length + 16;
  }
  return records;
}

/// The figures of an event, by their names.
std::map<std::string, float> scalars_of(const std::string& event) {
  std::map<std::string, float> scalars;
  for (WireReader in(event); in.next();) {
    if (in.field() != 5) continue;
    for (WireReader summary(in.bytes()); summary.next();) {
      std::string tag;
      for (WireReader value(summary.bytes()); value.next();)
        if (value.field() == 1)
          tag = value.bytes();
        else
          scalars[tag] = value.real();
    }
  }
  return scalars;
}

}  // namespace

TEST_CASE("tensorboard: CRC-32C matches known values") {
  CHECK(tensorboard::crc32c("") == 0);
  CHECK(tensorboard::crc32c("123456789") == 0xE3069283U);
  CHECK(tensorboard::crc32c(std::string(32, '\0')) == 0x8A9136AAU);  // RFC 3720, B.4
  CHECK(tensorboard::crc32c(std::string(32, '\xFF')) == 0x62A8AB43U);
}

TEST_CASE("tensorboard: a record has the bytes of TensorFlow's") {
  CHECK(tensorboard::record("") == std::string(8, 0) + "\x29\x03\x98\x07" + "\xD8\xEA\x82\xA2");
  CHECK(tensorboard::version_event(1.5) == "\x09\0\0\0\0\0\0\xF8\x3F\x1A\x0D"s + "brain.Event:2");
  const std::string length = "\x1B\0\0\0\0\0\0\0"s, time_and_step = "\x09\0\0\0\0\0\0\0\x40\x10\xAC\x02"s;
  CHECK(tensorboard::record(tensorboard::scalars_event(2.0, 300, {{"loss", 0.5}})) ==
        length + "\x1A\x0D\x9E\x13" + time_and_step + "\x2A\x0D\x0A\x0B\x0A\x04loss\x15\0\0\0\x3F"s + "\xDF\xC5\x2B\x60");
  CHECK(tensorboard::start_event(0.0, 1) == "\x09\0\0\0\0\0\0\0\0\x10\x01\x3A\x02\x08\x01"s);
}

TEST_CASE("tensorboard: training reports become scalars where present") {
  const TemporaryFolder folder;
  {
    TensorBoard board(folder.path());
    board.on_step({.step = 7, .loss = 2.5, .rate = 0.125, .tokens_per_second = 50});
    board.on_step({.step = 8,
                   .loss = std::numeric_limits<double>::quiet_NaN(),
                   .gradient_norm = 0.75,
                   .gradient_norms = {{"encoder.layers.0", 0.5}}});
    board.on_validation({.step = 8, .loss = 2});
    board.on_validation({.step = 9, .loss = 1e6, .score = 31.5, .source_gain = 0.25});  // of an infinite perplexity
    board.write(9, {{"test/bleu", 1e300}});
    board.on_step({.step = 10, .loss = 2, .terms = {{"activity", 0.25}}, .rate = 0.5, .tokens_per_second = 1});
  }
  REQUIRE(files_of(folder.path()).size() == 1);
  const auto events = records_of(read_file(files_of(folder.path())[0]));
  REQUIRE(events.size() == 7);
  CHECK(events[0].ends_with("brain.Event:2"));
  using Scalars = std::map<std::string, float>;
  CHECK(scalars_of(events[1]) ==
        Scalars{{"training/loss", 2.5f}, {"training/rate", 0.125f}, {"training/tokens_per_second", 50.f}});
  CHECK(std::isnan(scalars_of(events[2])["training/loss"]));
  CHECK(scalars_of(events[2])["training/gradient_norm"] == 0.75f);
  CHECK(scalars_of(events[2])["training/gradient_norms/encoder.layers.0"] == 0.5f);
  CHECK(scalars_of(events[3]) == Scalars{{"validation/loss", 2.f}, {"validation/perplexity", std::exp(2.0)}});
  constexpr float infinite = std::numeric_limits<float>::infinity();
  CHECK(scalars_of(events[4]) == Scalars{{"validation/loss", 1e6f},
                                         {"validation/perplexity", infinite},
                                         {"validation/score", 31.5f},
                                         {"validation/source_gain", 0.25f}});
  CHECK(scalars_of(events[5]) == Scalars{{"test/bleu", infinite}});
  CHECK(scalars_of(events[6]) == Scalars{{"training/loss", 2.f},
                                         {"training/activity", 0.25f},
                                         {"training/rate", 0.5f},
                                         {"training/tokens_per_second", 1.f}});
}

TEST_CASE("tensorboard: a resumed run adds a file and a new run removes its old files") {
  const TemporaryFolder folder;
  std::ofstream(folder / "events.out.tfevents.4000000000.attn");  // from a clock that was ahead
  std::ofstream(folder / "events.out.tfevents.nonsense.attn");
  TensorBoard(folder.path(), 8).write(9, {{"a", 1}});
  TensorBoard(folder.path(), 9).write(10, {{"a", 1}});
  const auto files = files_of(folder.path());
  REQUIRE(files.size() == 4);
  CHECK(files[1].filename() == "events.out.tfevents.4000000001.attn");
  CHECK(files[2].filename() == "events.out.tfevents.4000000002.attn");
  const auto events = records_of(read_file(files[1]));
  REQUIRE(events.size() == 3);
  CHECK(events[1].ends_with("\x10\x09\x3A\x02\x08\x01"));  // step 9, and that it starts there
  TensorBoard board(folder.path());
  CHECK(files_of(folder.path()).size() == 2);
  CHECK_THROWS_WITH_AS(TensorBoard("/nowhere"), doctest::Contains("cannot write /nowhere/events.out.tfevents."), Error);
}
