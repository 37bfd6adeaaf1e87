#include "common/log_summary.hpp"

#include <doctest/doctest.h>

#include "attn/core/file.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

std::string step(Index number, double loss) {
  return nlohmann::json{{"event", "step"}, {"step", number}, {"loss", loss}, {"tokens", 100}, {"tokens_per_second", 50}}
             .dump() +
         "\n";
}
std::string validation(Index number, double loss) {
  return nlohmann::json{{"event", "validation"}, {"step", number}, {"loss", loss}}.dump() + "\n";
}
std::string start(Index number) { return nlohmann::json{{"event", "start"}, {"step", number}}.dump() + "\n"; }

}  // namespace

TEST_CASE("log summary: steps and time and best and last validation and last training loss") {
  const TemporaryFolder folder;
  write_file(folder / "log",
             start(0) + step(10, 4) + step(20, 3) + validation(20, 2) + step(30, 2) + step(50, 1.25) + validation(50, 2.5));
  const LogSummary log = read_log(folder / "log");
  CHECK(log.steps == 50);
  CHECK(log.seconds == 8);
  CHECK(log.best == 2);
  CHECK(log.last == 2.5);
  CHECK(log.training_loss == doctest::Approx((10 * 2 + 20 * 1.25) / 30));
  CHECK(log.training.points.size() == 4);
  CHECK(log.validations.points.size() == 2);
}

TEST_CASE("log summary: figures are accessible by name") {
  const LogSummary log{{}, {"", {{10, 1.0}, {20, 0.5}}}, 20, 4, 0.5, 0.75, 0.25};
  const nlohmann::json found = figures(log);
  CHECK(found.at("steps") == 20);
  CHECK(found.at("epochs") == 2);
  CHECK(found.at("milliseconds_per_step") == 200.0);
  CHECK(found.at("perplexity") == doctest::Approx(1.6487212707001282));
  CHECK(found.at("last_perplexity") == doctest::Approx(2.117000016612675));
  CHECK(found.at("training_loss") == 0.25);
  CHECK(figures(LogSummary{}).at("milliseconds_per_step") == 0);
}

TEST_CASE("log summary: repeated steps after a restart count once") {
  const TemporaryFolder folder;
  write_file(folder / "log",
             start(0) + step(10, 4) + validation(10, 3) + step(20, 9) + start(10) + step(20, 2) + validation(20, 1));
  const LogSummary log = read_log(folder / "log");
  CHECK(log.steps == 20);
  CHECK(log.seconds == 4);
  CHECK(log.training.points.back().loss == 2);
}

TEST_CASE("log summary: ignores truncated lines and non-finite losses and accepts a missing file") {
  const TemporaryFolder folder;
  write_file(folder / "log",
             step(10, 4) + "{\"event\":\"step\",\"step\":20,\"loss\":null,\"tokens\":1,\"tokens_per_second\":1}\n[1]\n" +
                 validation(10, 3) + "{\"event\": \"va");
  CHECK(read_log(folder / "log").steps == 10);
  CHECK(read_log(folder / "none").steps == 0);
}
