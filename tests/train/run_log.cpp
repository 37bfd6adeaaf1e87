#include "attn/train/run_log.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/files.hpp"

using namespace attn;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

std::vector<nlohmann::json> events_of(const std::filesystem::path& path) {
  std::vector<nlohmann::json> events;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) events.push_back(nlohmann::json::parse(line, nullptr, false));
  return events;
}

}  // namespace

TEST_CASE("run log: a log contains every event and a resumed log continues at the cut") {
  const TemporaryFolder folder;
  const auto path = folder / "log.jsonl", picture = folder / "curve.svg";
  {
    RunLog log(path, picture, "a run");
    log.on_step({.step = 1, .epoch = 0, .loss = 2.5, .rate = 0.1, .tokens = 100, .tokens_per_second = 50});
    log.on_validation({.step = 1, .epoch = 0, .loss = 2.0, .best = true});
  }
  std::ofstream(path, std::ios::app) << "{\"event\": \"st";  // a crash
  RunLog log(path, picture, "a run", 1);
  log.on_step(
      {.step = 2, .epoch = 0, .loss = 2.25, .rate = 0.1, .tokens = 100, .tokens_per_second = 50, .gradient_norm = 0.75});
  log.on_end();
  const auto events = events_of(path);
  REQUIRE(events.size() == 4);
  CHECK_FALSE(events[0].contains("gradient_norm"));
  CHECK(events[3]["gradient_norm"] == 0.75);
  CHECK(events[0]["loss"] == 2.5);
  CHECK(events[1]["perplexity"].get<double>() == doctest::Approx(std::exp(2.0)));
  CHECK(events[2].is_discarded());
  CHECK(events[3]["step"] == 2);
  const std::string svg = read_file(picture);
  CHECK(contains(svg, ">training, smoothed, lowest 2.375 "));  // the mean of both
  CHECK(contains(svg, ">validation, lowest 2.000 "));
  CHECK_THROWS_WITH_AS(RunLog("/nowhere/log.jsonl", picture, "a run"), doctest::Contains("cannot write the log"), Error);
}

TEST_CASE("run log: a resumed log has each step and validation once and the total time") {
  const TemporaryFolder folder;
  const auto path = folder / "log.jsonl", picture = folder / "curve.svg";
  {
    RunLog log(path, picture, "a run");
    log.on_step({.step = 10, .loss = 3});
    log.on_validation({.step = 10, .loss = 2.5});
    log.on_warning("a warning");
    log.on_step({.step = 20, .loss = 2});
    log.on_validation({.step = 20, .loss = 1.5});  // killed before the checkpoint of step 20
    CHECK(log.seconds() < 10);
  }
  std::ofstream(path, std::ios::app) << R"({"event":"note","step":10,"seconds":100})"
                                     << "\n";
  RunLog log(path, picture, "a run", 10);
  CHECK(log.seconds() >= 100);
  CHECK(log.seconds() < 110);
  log.on_step({.step = 20, .loss = 2});
  log.on_validation({.step = 20, .loss = 1.5});
  std::vector<std::string> found;
  for (const auto& event : events_of(path)) found.push_back(event["event"]);
  CHECK(found == std::vector<std::string>{"step", "validation", "warning", "note", "step", "validation"});
  CHECK(events_of(path)[5]["seconds"] >= 100);
}

TEST_CASE("run log: names the additional loss terms") {
  const TemporaryFolder folder;
  const auto path = folder / "log.jsonl";
  RunLog log(path, folder / "curve.svg", "a run");
  log.on_step({.step = 1, .loss = 2.5, .terms = {{"activity", 0.25}, {"balance", nan_value}}});
  log.on_step({.step = 2, .loss = 2.5});
  const auto events = events_of(path);
  REQUIRE(events.size() == 2);
  CHECK(events[0]["loss"] == 2.5);
  CHECK(events[0]["terms"] == nlohmann::json{{"activity", 0.25}, {"balance", nullptr}});
  CHECK_FALSE(events[1].contains("terms"));
}

TEST_CASE("run log: writes the gradient norms of layers if they are reported") {
  const TemporaryFolder folder;
  const auto path = folder / "log.jsonl";
  RunLog log(path, folder / "curve.svg", "a run");
  log.on_step({.step = 1, .gradient_norms = {{"encoder.layers.0", 0.125}, {"output", nan_value}}});
  log.on_step({.step = 2});
  const auto events = events_of(path);
  REQUIRE(events.size() == 2);
  CHECK(events[0]["gradient_norms"] == nlohmann::json{{"encoder.layers.0", 0.125}, {"output", nullptr}});
  CHECK_FALSE(events[1].contains("gradient_norms"));
}

TEST_CASE("run log: writes the utilisation of the GPU with reports and validations if it is known") {
  const TemporaryFolder folder;
  const auto path = folder / "log.jsonl";
  RunLog log(path, folder / "curve.svg", "a run");
  log.on_step({.step = 1});
  std::optional<double> share = 0.75;
  log.gpu_utilisation = [&] { return share; };
  log.on_step({.step = 2});
  share = 0.5;
  log.on_validation({.step = 2});
  share.reset();
  log.on_step({.step = 3});
  const auto events = events_of(path);
  REQUIRE(events.size() == 4);
  CHECK_FALSE(events[0].contains("gpu_utilisation"));
  CHECK(events[1]["gpu_utilisation"] == 0.75);
  CHECK(events[2]["gpu_utilisation"] == 0.5);
  CHECK_FALSE(events[3].contains("gpu_utilisation"));
}

TEST_CASE("run log: lines are passed to listeners when written") {
  const TemporaryFolder folder;
  RunLog log(folder / "log.jsonl", folder / "curve.svg", "a run");
  log.write({{"event", "nobody hears"}});
  std::string heard;
  log.echo = [&](const std::string& line) { heard += line + "\n"; };
  log.on_step({.step = 1, .loss = nan_value});
  log.on_warning("gr\xfc\xdf");
  CHECK(read_file(folder / "log.jsonl") == "{\"event\":\"nobody hears\"}\n" + heard);
  CHECK(heard.ends_with("{\"event\":\"warning\",\"text\":\"gr\xef\xbf\xbd\xef\xbf\xbd\"}\n"));
}

TEST_CASE("run log: a log of non-finite losses is valid JSON and can be resumed") {
  const TemporaryFolder folder;
  const auto path = folder / "log.jsonl", picture = folder / "curve.svg";
  {
    RunLog log(path, picture, "a run");
    log.on_step({.step = 1, .loss = 3, .tokens_per_second = 1});
    log.on_step({.step = 2, .loss = nan_value, .tokens_per_second = 1 / 0.0});
    log.on_validation({.step = 2, .loss = nan_value});
    log.on_validation({.step = 2, .loss = 1e6});  // of which the perplexity is infinite
  }
  for (const auto& event : events_of(path)) CHECK(event.is_object());
  CHECK(events_of(path)[1]["loss"].is_null());
  CHECK(events_of(path)[3]["perplexity"].is_null());
  RunLog log(path, picture, "a run", 2);
  log.on_step({.step = 3, .loss = 2, .tokens_per_second = 1});
  log.on_end();
  CHECK(events_of(path).size() == 5);
  CHECK(contains(read_file(picture), ">training, smoothed, lowest 2.500 "));
}

TEST_CASE("run log: a log modified by others is read as far as possible") {
  const TemporaryFolder folder;
  const auto path = folder / "log.jsonl", picture = folder / "curve.svg";
  std::ofstream(path) << R"({"event":"step","step":"one","loss":1})"
                      << "\n[1]\n\n3\n\xff\n"
                      << R"({"event":5,"step":1,"loss":{}})"
                      << "\n"
                      << R"({"event":"step","step":1,"loss":4})"
                      << "\n"
                      << R"({"event":"step","step":9,"loss":1})"
                      << "\n";  // after the step that is resumed
  RunLog log(path, picture, "a run", 8);
  log.write({{"event", "note"}, {"text", "gr\xfc\xdf"}});
  log.on_end();
  CHECK(events_of(path).back()["text"] == "gr\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(contains(read_file(picture), ">training, smoothed, lowest 4.000 "));
}
