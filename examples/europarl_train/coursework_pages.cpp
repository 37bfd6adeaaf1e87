#include "job.hpp"

#include "attn/core/file.hpp"
#include "attn/data/parallel_text.hpp"
#include "attn/pictures/learning_curve.hpp"
#include "common/log_summary.hpp"

using namespace attn;

namespace {

/// A sentence of the paper's tables 4 and 6, with the paper's translations by row. The paper has no Transformer translation
/// of line 13.
struct PaperSample {
  Index line;  // of the test text, from 1
  std::string source;
  std::map<std::string, std::string> translations;
};

const std::vector<PaperSample>& paper_samples() {
  static const std::vector<PaperSample> samples{
      {20,
       "herr präsident , mir geht es um den wortlaut bei einem bericht von frau randzio-plath .",
       {{"baseline", "mr president , i am going to make a report on the report of mrs energy report."},
        {"lexical", "mr president , i am talking about the report of mrs randzio -de-de-de-de)."}}},
      {204,
       "für 2008 wird eine steigerung auf 7 596 us-dollar vorausgesagt .",
       {{"baseline", "for the end , it will be a drop to the criminal proceedings ."},
        {"lexical", "for 2008 , the budget is spent to 7 7 to 7 ."}}},
      {432,
       "ich verstehe daher nicht , was herr watson , der vorsitzende der alde-fraktion eben gesagt hat .",
       {{"baseline", "i therefore do not say what mr poettering has said by the rapporteur ."},
        {"lexical", "i am not therefore , mr watson , to be seen by mr watson , the eu has said ."}}},
      {44,
       "so etwas kann mitunter erfolgreich sein , aber auch manchmal fehlschlagen .",
       {{"baseline", "this can be a hope , but also , but also , but it is enough ."},
        {"lexical", "so can be only need to be successful , but sometimes sometimes sometimes sometimes sometimes ."},
        {"transformer", "there can be no confusion but be seen as a long time ."}}},
      {13,
       "sie ist äußerst besorgniserregend .",
       {{"baseline", "it is very important ."}, {"lexical", "you are extremely extremely worrying ."}}},
      {242,
       "europa 2020 ( eingereichte entschließungsanträge ) : siehe protokoll",
       {{"baseline", "european union (rule 142) : see minutes"},
        {"lexical", "europe 2020 (motions) : see minutes"},
        {"transformer", "europe (pl) : see minutes"}}}};
  return samples;
}

/// The row's run with this file and the lowest seed, or null.
const Job* first_run(const std::vector<Job>& jobs, const std::string& row, const char* file) {
  const Job* first = nullptr;
  for (const Job& job : jobs)
    if (job.row.name == row && file_exists(job.folder() / file) && (first == nullptr || job.seed < first->seed))
      first = &job;
  return first;
}

/// The mean training loss of each epoch.
Series epoch_means(const LogSummary& log) {
  Series means;
  auto point = log.training.points.begin();
  for (const Series::Point& validation : log.validations.points) {
    double sum = 0, count = 0;
    for (; point != log.training.points.end() && point->step <= validation.step; ++point) sum += point->loss, ++count;
    if (count > 0) means.points.push_back({validation.step, sum / count});
  }
  return means;
}

}  // namespace

void draw_figure1(const std::vector<Job>& jobs) {
  const Job *baseline = first_run(jobs, "baseline", "log.jsonl"), *deeper = first_run(jobs, "deeper", "log.jsonl");
  if (baseline == nullptr || deeper == nullptr) return;
  std::vector<Series> curves;
  for (const Job* job : {baseline, deeper}) {
    LogSummary log = read_log(job->folder() / "log.jsonl");
    Series training = epoch_means(log);
    training.name = job->row.name + ", training";
    log.validations.name = job->row.name + ", validation";
    curves.insert(curves.end(), {training, log.validations});
  }
  write_file(baseline->options.group() / "figure1.svg",
             draw_learning_curve("Baseline, and 2 encoder, 3 decoder layers", curves));
}

void write_sample_tables(const std::vector<Job>& jobs) {
  const ParallelText& test = jobs[0].corpus.tests[0].text;
  std::string text;
  for (const PaperSample& sample : paper_samples()) {
    const auto at = static_cast<std::size_t>(sample.line - 1);
    if (at >= test.source.size() || test.source[at] != sample.source) continue;
    text += "\n| line " + std::to_string(sample.line) + " | |\n| --- | --- |\n| source | " + sample.source +
            " |\n| reference | " + test.target[at] + " |\n";
    for (const char* row : {"baseline", "lexical", "transformer"}) {
      if (const auto paper = sample.translations.find(row); paper != sample.translations.end())
        text += std::string("| ") + row + ", paper | " + paper->second + " |\n";
      if (const Job* run = first_run(jobs, row, "outcome.json"))
        text += std::string("| ") + row + ", here | " + read_lines(run->folder() / "translations.test.txt").at(at) + " |\n";
    }
  }
  if (!text.empty())
    write_file(
        jobs[0].options.output / "coursework-samples.md",
        "# Sample translations\n\nLines 20, 204 and 432 are table 4 of the coursework, lines 44, 13 and 242 table 6. "
        "Best epoch, lowest seed.\n" +
            text);
}
