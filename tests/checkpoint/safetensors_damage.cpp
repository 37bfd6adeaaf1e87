// What attn writes is read back as it was written, or refused.

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "attn/checkpoint/safetensors.hpp"
#include "attn/core/random.hpp"
#include "support/files.hpp"

using namespace attn;
namespace fs = std::filesystem;

namespace {

/// A file that is changed over and over, without the care that write_file takes.
struct Damaged {
  TemporaryFolder folder;
  fs::path path = folder / "model.safetensors";

  std::string complaint(const std::string& bytes) const {
    std::ofstream(path, std::ios::binary) << bytes;
    return error_of([&] { SafetensorsFile file(path); });
  }
  std::string saved(Index count) const {
    std::vector<float> values(static_cast<std::size_t>(count));
    Random random(1);
    for (float& value : values) value = static_cast<float>(random.normal());
    save_safetensors(path, std::vector{tensor_view<float>("w", values, {count})}, {{"epoch", "3"}});
    return read_file(path);
  }
};

}  // namespace

TEST_CASE("safetensors: detects a change of any byte") {
  const Damaged damaged;
  std::string bytes = damaged.saved(8);
  REQUIRE(damaged.complaint(bytes) == "");
  Index silent = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const int flip : {1 << i % 8, 255, ' ' ^ '\t'}) {
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
      const std::string sentence = damaged.complaint(bytes);
      if (!contains(sentence, damaged.path.string())) ++silent;
      bytes[i] = static_cast<char>(bytes[i] ^ flip);
    }
  CHECK(silent == 0);
  CHECK(damaged.complaint(bytes) == "");
}

TEST_CASE("safetensors: detects and reports damage anywhere in a large file") {
  const Damaged damaged;
  std::string bytes = damaged.saved(100'000);
  for (std::size_t i = 300; i < bytes.size(); i += 4'999) {
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    CHECK(contains(damaged.complaint(bytes), "the tensors do not match their checksum; the file is damaged"));
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
  }
  CHECK(damaged.complaint(bytes) == "");
  const std::string block(512, '\0');  // a sector
  CHECK(contains(damaged.complaint(std::string(bytes).replace(4096, 512, block)), "the tensors do not match"));
  std::string swapped = bytes;
  std::swap_ranges(swapped.begin() + 4096, swapped.begin() + 4608, swapped.begin() + 8192);
  CHECK(contains(damaged.complaint(swapped), "the tensors do not match"));
}

TEST_CASE("safetensors: rejects a file truncated anywhere") {
  const Damaged damaged;
  const std::string bytes = damaged.saved(8);
  for (std::size_t length = 0; length < bytes.size(); ++length) CHECK(damaged.complaint(bytes.substr(0, length)) != "");
  CHECK(contains(damaged.complaint(bytes + "x"), "1 bytes at the end"));
}

TEST_CASE("safetensors: the error for a header edited by another program names the remedy") {
  const Damaged damaged;
  std::string bytes = damaged.saved(8);
  const std::size_t key = bytes.find("attn.checksum.data");
  CHECK(contains(damaged.complaint(std::string(bytes).replace(key, 4, "attm")), "one of its two checksums is missing"));
  const std::size_t epoch = bytes.find(R"("epoch":"3")");
  CHECK(contains(damaged.complaint(std::string(bytes).replace(epoch, 11, R"("epoch":"4")")), "header does not match"));
  CHECK(contains(damaged.complaint(std::string(bytes).replace(epoch, 11, R"("epoch":"4")")),
                 "must remove the entries 'attn.checksum...'"));
  const std::size_t spaced = bytes.find(R"(header":")");  // as Python's json writes it: not where attn looks
  CHECK(contains(damaged.complaint(std::string(bytes).replace(spaced + 6, 2, "\": ")), "damaged"));
}

TEST_CASE("safetensors: a process killed during a save leaves a complete file" * doctest::timeout(120)) {
  const TemporaryFolder folder;
  const fs::path path = folder / "training.safetensors";
  const auto save = [&](std::int64_t number) {
    const std::vector<std::int64_t> values(20'000, number);
    save_safetensors(path, std::vector{tensor_view<std::int64_t>("step", values, {20'000})},
                     {{"step", std::to_string(number)}});
  };
  save(0);
  Random random(1);
  Index later = 0, partial = 0;
  for (int kill = 0; kill < 200; ++kill) {
    const auto first = SafetensorsFile(path).values<std::int64_t>("step")[0];
    const pid_t process = ::fork();
    REQUIRE(process >= 0);
    if (process == 0) {
      for (std::int64_t number = first + 1;; ++number) save(number);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(20'000)));
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);

    const SafetensorsFile file(path);
    const auto values = file.values<std::int64_t>("step");
    CHECK(values == std::vector<std::int64_t>(20'000, values[0]));
    CHECK(file.metadata().at("step") == std::to_string(values[0]));
    CHECK(values[0] >= first);
    later += values[0] > first;
    Index files = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder / "")) ++files;
    CHECK(files <= 2);
    partial += files == 2;
  }
  CHECK(later > 0);
  CHECK(partial > 0);  // some were killed in the middle
  save(-1);
  CHECK_FALSE(fs::exists(path.string() + ".partial"));
}
