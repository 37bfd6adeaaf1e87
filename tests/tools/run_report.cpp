#include "common/run_report.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/files.hpp"

using namespace attn;

namespace {

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const auto first = text.find(from);
  return first == text.npos ? "" : text.substr(first, text.find(to, first) - first);
}

const std::string log_lines =
    R"({"event":"start","step":0,"device":"2 threads","parameters":1234567,"memory":2097152,"settings":{"rate":"0.01"}})"
    "\n"
    R"({"event":"step","step":10,"loss":4,"rate":0.01,"tokens":100,"tokens_per_second":50,"gradient_norm":1.5})"
    "\n"
    R"({"event":"validation","step":10,"loss":3,"score":7.25,"source_gain":0.5})"
    "\n"
    R"({"event":"step","step":20,"loss":2,"rate":0.005,"tokens":100,"tokens_per_second":25,"gradient_norm":0.75})"
    "\n"
    R"({"event":"validation","step":20,"loss":2.5,"score":6.5,"source_gain":1})"
    "\n";

/// A folder of a run with this log.
std::filesystem::path run_folder(const TemporaryFolder& in, const std::string& name, const std::string& log) {
  make_folder(in / name);
  write_file(in / name / "log.jsonl", log);
  return in / name;
}

std::string report(const std::vector<std::filesystem::path>& folders) {
  return draw_run_report(read_reported_runs(folders));
}

}  // namespace

TEST_CASE("run report: shows figures and curves and settings of a log") {
  const TemporaryFolder in;
  const auto folder = run_folder(in, "mine",
                                 log_lines + R"({"event":"test","bleu":12.25})"
                                             "\n");
  const std::string page = report({folder});
  CHECK(contains(page, "<title>mine</title>"));
  CHECK(contains(page, "BLEU of the test</th><td>12.25</td>"));
  CHECK(contains(page, "best validation score</th><td>7.25</td>"));
  CHECK(contains(page, "best validation perplexity</th><td>12.18</td>"));
  CHECK(contains(page, "best validation loss</th><td>2.5000 at step 20</td>"));
  CHECK(contains(page, "mean training loss at the end</th><td>2.0000</td>"));
  CHECK(contains(page, "steps</th><td>20</td>"));
  CHECK(contains(page, "time of training</th><td>6 s</td>"));
  CHECK(contains(page, "tokens per second</th><td>33</td>"));
  CHECK(contains(page, "machine device</th><td>2 threads</td>"));
  CHECK(contains(page, "parameters</th><td>1,234,567</td>"));
  CHECK(contains(page, "memory, MiB</th><td>2</td>"));
  CHECK(contains(page, "rate</th><td>0.01</td>"));
  CHECK(count(page, "<svg class='plot'") == 7);
  const std::string loss = between(page, "<h3>Loss, nats per token</h3>", "</figure>");
  CHECK(contains(loss, "<span>training</span> <b>2.000</b>"));
  CHECK(contains(loss, "<span>validation</span> <b>2.500</b>"));
  CHECK(contains(loss, "data-x='10 20' data-y='4.000 2.000'"));
  CHECK(contains(loss, "points='46,8 352,186'"));  // from 4 to 2, the axis' own ends
  CHECK(contains(between(page, "<h3>Perplexity</h3>", "</figure>"), "data-y='20.09 12.18'"));
  CHECK(contains(between(page, "<h3>Gradient norm", "</figure>"), "data-y='1.500 0.7500'"));
  CHECK(!contains(page, "class='warnings'"));
  CHECK(!contains(page, "<h2>Translations</h2>"));
  CHECK(!contains(page, "src="));  // nothing is fetched
  CHECK(!contains(page, "http://"));
  CHECK(!contains(page, "https://"));
  CHECK(contains(page, "default-src 'none'"));
}

TEST_CASE("run report: shows the mean utilisation of the GPU and its curve if the log has them") {
  const TemporaryFolder in;
  const auto step = [](int number, const std::string& more) {
    return R"({"event":"step","step":)" + std::to_string(number) + R"(,"loss":1)" + more + "}\n";
  };
  const std::string page = report(
      {run_folder(in, "gpu", step(1, R"(,"gpu_utilisation":0.5)") + step(2, "") + step(3, R"(,"gpu_utilisation":0.76)"))});
  CHECK(contains(page, "mean GPU utilisation</th><td>63 %</td>"));
  CHECK(contains(between(page, "<h3>GPU utilisation", "</figure>"), "data-x='1 3' data-y='0.5000 0.7600'"));
  CHECK(!contains(report({run_folder(in, "cpu", log_lines)}), "GPU utilisation"));
}

TEST_CASE("run report: shows at most five stages of a translation even without its source") {
  const TemporaryFolder in;
  std::string samples;
  for (int i = 1; i <= 9; ++i)
    samples += R"({"event":"samples","step":)" + std::to_string(i) +
               R"(,"samples":[{"source":"ein Haus","translation":"try )" + std::to_string(i) +
               R"(","reference":"a house"}]})"
               "\n";
  const std::string page = report({run_folder(in, "samples", log_lines + samples)});
  CHECK(count(page, "<dd>ein Haus</dd>") == 1);
  CHECK(count(page, ">a house</dd>") == 1);
  for (int i = 1; i <= 9; ++i)
    CHECK(contains(page, "step " + std::to_string(i) + "</dt><dd>try " + std::to_string(i) + "</dd>") == (i % 2 == 1));

  const auto plain = run_folder(in, "plain", log_lines);
  write_file(plain / "translations.txt", "one\ntwo\n");
  CHECK(contains(report({plain}), "<li>one</li><li>two</li>"));
}

TEST_CASE("run report: escapes markup in logs and names and translations") {
  const TemporaryFolder in;
  const std::string hostile = "<script>alert(1)</script>'\\\"&";
  const auto folder = run_folder(in, "<img onerror='x'>",
                                 log_lines + R"({"event":"warning","text":")" + hostile + "\"}\n" +
                                     R"({"event":"start","step":20,"settings":{"<b>":")" + hostile + "\"}}\n" +
                                     R"({"event":"samples","samples":[{"source":")" + hostile + R"(","translation":")" +
                                     hostile + R"(","reference":")" + hostile + "\"}]}\n");
  make_folder(folder / "maps");
  write_file(folder / "maps" / "0001.svg", "<svg></svg>'><script>alert(2)</script>&amp;");
  const auto other = run_folder(in, "<em>", log_lines);
  for (const std::string& page : {report({folder}), report({folder, other})}) {
    CHECK(!contains(page, "<script>alert(1)"));
    CHECK(count(page, "&lt;script&gt;alert(1)&lt;/script&gt;&#39;&quot;&amp;") == 5);
    CHECK(!contains(page, "<img"));
    CHECK(!contains(page, "<em>"));
    CHECK(!contains(page, "<b>:"));
    CHECK(contains(page, "&lt;img onerror=&#39;x&#39;&gt;"));
    // A map is the quoted text of a frame that can reach nothing.
    CHECK(contains(page, "<svg></svg>&#39;><script>alert(2)</script>&amp;amp;"));
    CHECK(contains(page, "sandbox='allow-scripts'"));
  }
}

TEST_CASE("run report: tolerates nulls and truncated lines and wrong types and no validation") {
  const TemporaryFolder in;
  const std::string page = report({run_folder(in, "nan",
                                              R"({"event":"step","step":10,"loss":null,"rate":0.1})"
                                              "\n"
                                              R"({"event":"step","step":20,"loss":3,"rate":null,"tokens":"many"})"
                                              "\n"
                                              R"({"event":7,"step":"x"})"
                                              "\n[1]\n\n"
                                              R"({"event":"step","step":-5,"loss":1})"
                                              "\n"
                                              R"({"event":"samples","samples":[1,{"source":2}]})"
                                              "\n"
                                              R"({"event":"warning"})"
                                              "\n"
                                              R"({"event":"step","step":30,"lo)")});
  CHECK(contains(page, "was not a finite number at 1 of 2 reports"));
  CHECK(contains(page, "log.jsonl has 4 lines without an event"));
  CHECK(contains(page, "<span>training</span> <b>3.000</b>"));
  CHECK(!contains(page, "<span>validation</span>"));
  CHECK(!contains(page, "best validation"));
  CHECK(contains(page, "time of training</th><td>0 s</td>"));

  const std::string empty = report({run_folder(in, "empty", "")});
  CHECK(contains(empty, "log.jsonl has no training step yet"));
  CHECK(contains(empty, "Nothing to draw yet."));
  CHECK(contains(empty, "steps</th><td>0</td>"));

  const auto damaged = run_folder(in, "damaged", log_lines);
  write_file(damaged / "model.json", "{\"settings\": {");
  CHECK(contains(report({damaged}), "model.json is damaged; the settings are those of the log"));
  CHECK(contains(report({damaged}), "rate</th><td>0.01</td>"));
  write_file(damaged / "model.json", "[]");
  CHECK(contains(report({damaged}), "rate</th><td>0.01</td>"));
}

TEST_CASE("run report: model.json describes machine and model and settings") {
  const TemporaryFolder in;
  const auto folder = run_folder(in, "run", log_lines);
  write_file(folder / "model.json", R"({"model":{"name":"transformer"},"shape":{"width":128},"attn":{"commit":"abc"},
      "machine":{"processor":"fast, 2 cores"},"source":{"kind":"bpe","vocabulary":1000},"limit":256,
      "settings":{"rate":"0.5"}})");
  const std::string page = report({folder});
  for (const char* row :
       {"model</th><td>transformer<", "shape width</th><td>128<", "attn commit</th><td>abc<",
        "machine processor</th><td>fast, 2 cores<", "source kind</th><td>bpe<", "source vocabulary</th><td>1000<",
        "translation tokens at most</th><td>256<", "rate</th><td>0.5<"})
    CHECK_MESSAGE(contains(page, row), row);
}

TEST_CASE("run report: several runs share a legend with distinct colours and a table of differences") {
  const TemporaryFolder in;
  std::string other = log_lines;
  other.replace(other.find("\"rate\":\"0.01\""), 13, "\"rate\":\"0.02\"");
  const std::string without = other.substr(0, other.find("{\"event\":\"validation\""));
  make_folder(in / "x");
  make_folder(in / "y");
  const std::string page =
      report({run_folder(in, "none", without), run_folder(in, "a", log_lines), run_folder(in, "b", other)});
  CHECK(contains(page, "<title>3 runs side by side</title>"));
  const std::string differ = between(page, "<h2>Settings that differ</h2>", "<details>");
  CHECK(contains(differ, "rate</th><td>0.02</td><td>0.01</td><td>0.02</td>"));
  CHECK(!contains(differ, "parameters"));
  CHECK(contains(page, "parameters</th><td>1,234,567</td></tr>"));
  CHECK(contains(page, "best validation perplexity</th><td></td><td>12.18</td><td>12.18</td>"));
  CHECK(count(between(page, "<h3>Training loss", "</figure>"), "<polyline") == 3);
  const std::string validation = between(page, "<h3>Validation loss", "</figure>");
  CHECK(contains(validation, "<li class='c1'><i></i><span>a</span>"));  // the colour it has in every plot
  CHECK(contains(validation, "<li class='c2'><i></i><span>b</span>"));
  CHECK(!contains(validation, "<span>none</span>"));

  const std::string twins = report({run_folder(in, "x/run", log_lines), run_folder(in, "y/run", log_lines)});
  CHECK(contains(twins, "x/run</th>"));
  CHECK(contains(twins, "y/run</th>"));
  CHECK(contains(twins, "<h2>Settings that differ</h2>\n<p>None.</p>"));
}

TEST_CASE("run report: a folder without a log is reported") {
  const TemporaryFolder in;
  CHECK(contains(error_of([&] { read_reported_run(in / "none"); }), "is not a folder"));
  CHECK(contains(error_of([&] { read_reported_run(in.path()); }), "has no log.jsonl"));
  CHECK(contains(error_of([&] { draw_run_report({}); }), "no runs. Name at least one run folder."));
  std::filesystem::create_directory(in / "loop");
  std::filesystem::create_symlink("log.jsonl", in / "loop/log.jsonl");
  CHECK(contains(error_of([&] { read_reported_run(in / "loop"); }), "log.jsonl: Too many levels of symbolic links"));
  write_run_report(in / "page.html", {run_folder(in, "run", log_lines) / ""});
  CHECK(contains(read_file(in / "page.html"), "<title>run</title>"));  // a slash at the end or none
}

TEST_CASE("plot: labels axes and values") {
  CHECK(axes::compact(1'500'000, 500'000) == "1.5M");
  CHECK(axes::compact(20'000, 10'000) == "20k");
  CHECK(axes::compact(0, 0.0005) == "0");
  CHECK(axes::compact(0.0005, 0.0005) == "0.0005");
  CHECK(axes::compact(2e-5, 1e-5) == "2e-05");
  CHECK(axes::rounded(0, 4) == "0");
  CHECK(axes::rounded(1525844, 4) == "1,525,844");
  CHECK(axes::rounded(8.57735, 4) == "8.577");
  CHECK(axes::rounded(1e-5, 4) == "1e-05");
  CHECK(axes::rounded(-0.25, 4) == "-0.2500");
}

TEST_CASE("plot: logarithmic axes enclose their values with few or many ticks") {
  for (const auto& [low, high] : {std::pair(1.0, 1.0), {8.3, 8.9}, {0.16, 2.0}, {3.2, 4e4}, {1e-30, 1e30}, {0.1, 10.0}}) {
    const Axis axis = axes::logarithmic({low, high});
    CHECK(axis.first <= low * (1 + 1e-9));
    CHECK(axis.last >= high * (1 - 1e-9));
    CHECK(axis.last > axis.first);
    CHECK(axis.ticks.size() >= 2);
    CHECK(axis.ticks.size() <= 8);
  }
  const Axis axis = axes::logarithmic({8.3, 8.9});
  CHECK(axis.ticks.front().label == "5");
  CHECK(axis.ticks.back().label == "10");
}

TEST_CASE("plot: accepts one point and equal points and values without a logarithm and no values") {
  CHECK(draw_plot({"t", {}}).empty());
  CHECK(draw_plot({"t", {{"a", {{1, std::nan("")}}}}}).empty());
  CHECK(draw_plot({"t", {{"a", {{1, 0}, {2, -1}}}}, true}).empty());
  for (const bool logarithmic : {false, true})
    for (const Series& one :
         {Series{"a", {{5, 3}}}, Series{"a", {{1, 3}, {2, 3}}}, Series{"a", {{1, 1e300}, {2, 1e-300}}}}) {
      const std::string figure = draw_plot({"t", {one}, logarithmic});
      CHECK(contains(figure, "<polyline"));
      CHECK(!contains(figure, "nan"));
      CHECK(!contains(figure, "inf"));
    }
}

TEST_CASE("run report: a map's frame fits the map up to one screen") {
  const auto height = [](const std::string& map) {
    return between(report_page::framed(map), " height='", "' srcdoc='").substr(std::string(" height='").size());
  };
  CHECK(height("<svg width='300' height='80.5' viewBox='0 0 300 80.5'></svg>") == "111");
  CHECK(height("<svg height='429'></svg>") == "459");
  CHECK(height("<svg height='430'></svg>") == "460");
  for (const char* odd : {"", "<svg>", "<svg></svg><rect height='20'/>", "<svg height='nan'>", "<svg height='-5'>",
                          "<svg height='1e99'>", "<svg height='"})
    CHECK(height(odd) == "460");
}
