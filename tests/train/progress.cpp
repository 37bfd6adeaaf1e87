#include "attn/train/terminal.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <sstream>
#include <string>

using namespace attn;

namespace {

Index columns_of(const std::string& text) {  // characters, not bytes
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

Index count(const std::string& text, std::string_view part) {
  Index found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

const Progress::Clock::time_point start{};
Progress::Clock::time_point after(double seconds) {
  return start + std::chrono::duration_cast<Progress::Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

TEST_CASE("format_duration: gives readable durations") {
  CHECK(format_duration(0) == "0 s");
  CHECK(format_duration(0.4) == "0 s");
  CHECK(format_duration(8) == "8 s");
  CHECK(format_duration(59.4) == "59 s");
  CHECK(format_duration(59.6) == "1 min 00 s");
  CHECK(format_duration(192) == "3 min 12 s");
  CHECK(format_duration(3599) == "59 min 59 s");
  CHECK(format_duration(3600) == "1 h 00 min");
  CHECK(format_duration(3900) == "1 h 05 min");
  CHECK(format_duration(86'399) == "23 h 59 min");
  CHECK(format_duration(86'400 * 2 + 3600 * 3) == "2 d 03 h");
  CHECK(format_duration(-1) == "?");
  CHECK(format_duration(std::numeric_limits<double>::infinity()) == "?");
  CHECK(format_duration(std::numeric_limits<double>::quiet_NaN()) == "?");
}

TEST_CASE("progress_line: shows bar and figures in exactly 80 columns") {
  const ProgressState now{4200, 10'000, 2.3144, 31'200.4, 192};
  const std::string line = progress_line(now);
  CHECK(line == " 42 %  ██████▋           4,200/10,000  loss 2.314  31,200 tok/s  3 min 12 s left");
  CHECK(columns_of(line) == 80);
  for (Index step = 0; step <= 10'000; step += 125) CHECK(columns_of(progress_line({step, 10'000, 2, 3, 4})) == 80);
}

TEST_CASE("progress_line: the bar is full and 100 percent shown only at the end") {
  const std::string almost = progress_line({99'999, 100'000, 1, 1, 1}), done = progress_line({100'000, 100'000, 1, 1, 0});
  CHECK(almost.starts_with(" 99 %"));
  CHECK(done.starts_with("100 %  █"));
  CHECK(done.find("█  100,000/100,000") != std::string::npos);
  CHECK(almost.find("█  99,999") == std::string::npos);
  const std::string begun = progress_line({0, 100'000, 1, 1, 1});
  CHECK(begun.starts_with("  0 %  "));
  CHECK(begun.find("█") == std::string::npos);
}

TEST_CASE("progress_line: drops the bar first and then figures from the right") {
  const ProgressState big{123'456'789, 1'000'000'000, 2.5, 12'345'678, 86'400 * 10};
  const std::string all = " 12 %  123,456,789/1,000,000,000  loss 2.500  12,345,678 tok/s  10 d 00 h left";
  CHECK(progress_line(big) == all);
  CHECK(progress_line(big, 40) == all.substr(0, 40));
  CHECK(progress_line(big, 0).empty());
  CHECK(progress_line(big, std::nullopt) == all);
  CHECK(progress_line({1, 4, 2.5, 10, 8}, std::nullopt) == " 25 %  1/4  loss 2.500  10 tok/s  8 s left");
}

TEST_CASE("progress_line: shows time spent waiting for batches") {
  CHECK(progress_line({1, 4, 2.5, 10, 8, 0.049}, std::nullopt) == " 25 %  1/4  loss 2.500  10 tok/s  8 s left");
  CHECK(progress_line({1, 4, 2.5, 10, 8, 0.124}, std::nullopt) ==
        " 25 %  1/4  loss 2.500  10 tok/s  8 s left  waiting 12 %");
}

TEST_CASE("progress_line: accepts every number") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  CHECK(progress_line({1, 2, nan, nan, nan}, std::nullopt) == " 50 %  1/2  loss nan  0 tok/s  ? left");
  CHECK(progress_line({1, 2, infinity, infinity, infinity}, std::nullopt) == " 50 %  1/2  loss inf  0 tok/s  ? left");
  CHECK(progress_line({1, 2, 1e300, 1, 1}, std::nullopt) == " 50 %  1/2  loss 1e+300  1 tok/s  1 s left");
  CHECK(columns_of(progress_line({5, 4, 1, 1, 1})) == 80);
  CHECK(progress_line({5, 4, 1, 1, 1}).starts_with("100 %"));
  CHECK(columns_of(progress_line({0, 0, 1, 1, 1})) == 80);
}

TEST_CASE("Progress: redraws one line on a terminal") {
  std::ostringstream out;
  Progress progress(out, true, 100, 0, start);
  progress.update(1, 5, 1000, after(1));
  CHECK(out.str() == "\r" + progress_line({1, 100, 5, 1000, 99}, 79) + "\x1b[K");
  progress.update(2, 5, 1000, after(1.05));  // too soon
  CHECK(count(out.str(), "\r") == 1);
  progress.update(3, 4, 1000, after(1.2));
  CHECK(count(out.str(), "\r") == 2);
  progress.update(99, 3, 1000, after(1.21));
  CHECK(count(out.str(), "\r") == 2);
  progress.update(100, 2.5, 1000, after(1.22));  // the last is always shown
  CHECK(out.str().find("100/100  loss 2.500") != std::string::npos);
  CHECK(count(out.str(), "\n") == 0);
  progress.finish();
  progress.finish();
  CHECK(out.str().ends_with("0 s left\x1b[K\n"));
  CHECK(count(out.str(), "\n") == 1);
}

TEST_CASE("Progress: prints occasional plain lines elsewhere") {
  std::ostringstream out;
  Progress progress(out, false, 1000, 0, start);
  for (int second = 1; second <= 100; ++second) progress.update(second, 2, 500, after(second));
  progress.finish();
  CHECK(out.str() ==
        "  0 %  1/1,000  loss 2.000  500 tok/s  16 min 39 s left\n"
        "  3 %  31/1,000  loss 2.000  500 tok/s  16 min 09 s left\n"
        "  6 %  61/1,000  loss 2.000  500 tok/s  15 min 39 s left\n"
        "  9 %  91/1,000  loss 2.000  500 tok/s  15 min 09 s left\n");
}

TEST_CASE("Progress: estimates the remaining time from the resume point") {
  std::ostringstream out;
  Progress progress(out, false, 1000, 900, start);
  progress.update(910, 2, 500, after(10));
  CHECK(out.str() == " 91 %  910/1,000  loss 2.000  50 tok/s  1 min 30 s left\n");
}

TEST_CASE("Progress: follows a change of speed") {
  std::ostringstream out;
  Progress progress(out, true, 10'000, 0, start);
  for (int i = 1; i <= 80; ++i) progress.update(i, 2, 125, after(i / 8.0));  // 1,000 tokens/s
  CHECK(out.str().substr(out.str().rfind('\r')).find(" 1,000 tok/s") != std::string::npos);
  for (int i = 1; i <= 160; ++i) progress.update(80 + i, 2, 250, after(10 + i / 8.0));       // then twice that
  CHECK(out.str().substr(out.str().rfind('\r')).find(" 1,982 tok/s") != std::string::npos);  // 2,000 - 1,000 exp(-20 / 5)
}

TEST_CASE("Progress: prints messages above its line") {
  std::ostringstream terminal, file;
  Progress shown(terminal, true, 10, 0, start), plain(file, false, 10, 0, start);
  for (Progress* progress : {&shown, &plain}) {
    progress->print("before");
    progress->update(1, 2, 3, after(1));
    progress->print("validation perplexity 4.20");
  }
  const std::string line = progress_line({1, 10, 2, 3, 9}, 79);
  CHECK(terminal.str() == "before\n\r" + line + "\x1b[K\r\x1b[Kvalidation perplexity 4.20\n" + line);
  CHECK(file.str() == "before\n 10 %  1/10  loss 2.000  3 tok/s  9 s left\nvalidation perplexity 4.20\n");
}
