#include "attn/train/run_log.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <iterator>
#include <vector>

#include "support/files.hpp"

using namespace attn;

TEST_CASE("a log holds every event, and a resumed one goes on where it was cut off") {
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
  std::ifstream in(path);
  std::string line;
  std::vector<nlohmann::json> events;
  while (std::getline(in, line)) events.push_back(nlohmann::json::parse(line, nullptr, false));
  REQUIRE(events.size() == 4);
  CHECK(events[0]["loss"] == 2.5);
  CHECK(events[1]["perplexity"].get<double>() == doctest::Approx(std::exp(2.0)));
  CHECK(events[2].is_discarded());
  CHECK(events[3]["step"] == 2);
  CHECK_FALSE(events[0].contains("gradient_norm"));
  CHECK(events[3]["gradient_norm"] == 0.75);
  std::ifstream drawing(picture);
  const std::string svg{std::istreambuf_iterator<char>(drawing), {}};
  CHECK(svg.find("training, lowest 2.250") != std::string::npos);
  CHECK_THROWS_WITH_AS(RunLog("/nowhere/log.jsonl", picture, "a run"), doctest::Contains("cannot write the log"), Error);
}
