#include "job.hpp"

#include "attn/core/file.hpp"
#include "attn/data/parallel_text.hpp"
#include "attn/pictures/learning_curve.hpp"
#include "common/log_summary.hpp"

using namespace attn;

namespace {

/// A test sentence that a paper shows, with the paper's translations by row.
struct PaperSample {
  std::string source;
  std::map<std::string, std::string> translations;
};

struct PaperSamples {
  std::string origin;
  std::vector<std::string> rows;  // whose translations stand beside the paper's
  std::vector<PaperSample> sentences;
};

/// Tables 4 and 6 of the coursework. The paper has no Transformer translation of the fifth sentence.
PaperSamples coursework_samples() {
  return {"The first three sentences are table 4 of the coursework, the others table 6.",
          {"baseline", "lexical", "transformer"},
          {{"herr präsident , mir geht es um den wortlaut bei einem bericht von frau randzio-plath .",
            {{"baseline", "mr president , i am going to make a report on the report of mrs energy report."},
             {"lexical", "mr president , i am talking about the report of mrs randzio -de-de-de-de)."}}},
           {"für 2008 wird eine steigerung auf 7 596 us-dollar vorausgesagt .",
            {{"baseline", "for the end , it will be a drop to the criminal proceedings ."},
             {"lexical", "for 2008 , the budget is spent to 7 7 to 7 ."}}},
           {"ich verstehe daher nicht , was herr watson , der vorsitzende der alde-fraktion eben gesagt hat .",
            {{"baseline", "i therefore do not say what mr poettering has said by the rapporteur ."},
             {"lexical", "i am not therefore , mr watson , to be seen by mr watson , the eu has said ."}}},
           {"so etwas kann mitunter erfolgreich sein , aber auch manchmal fehlschlagen .",
            {{"baseline", "this can be a hope , but also , but also , but it is enough ."},
             {"lexical", "so can be only need to be successful , but sometimes sometimes sometimes sometimes sometimes ."},
             {"transformer", "there can be no confusion but be seen as a long time ."}}},
           {"sie ist äußerst besorgniserregend .",
            {{"baseline", "it is very important ."}, {"lexical", "you are extremely extremely worrying ."}}},
           {"europa 2020 ( eingereichte entschließungsanträge ) : siehe protokoll",
            {{"baseline", "european union (rule 142) : see minutes"},
             {"lexical", "europe 2020 (motions) : see minutes"},
             {"transformer", "europe (pl) : see minutes"}}}}};
}

/// The appendix of the comparison of attentions. It does not say which model wrote the translations.
PaperSamples attention_samples() {
  const auto sample = [](const char* source, const char* translation) {
    return PaperSample{source, {{"a model", translation}}};
  };
  return {"The sentences are those of the paper's appendix, which does not say which model wrote its translations.",
          {"a model", "seq2seq", "additive-encoder", "multiplicative-encoder", "scaled-dot-encoder", "key-value-encoder",
           "additive-both", "scaled-dot-both"},
          {sample("we are proud of our performance but we want to win every game",
                  "wir sind stolz auf unsere leistung aber wir wollen alle <unk>"),
           sample("a departure of <unk> from russia is virtually impossible",
                  "ein <unk> <unk> aus russland ist praktisch unmöglich"),
           sample("i was unhappy but it was really difficult to ask questions",
                  "ich war zwar nicht glücklich aber es war wirklich schwer fragen"),
           sample("there will then only be one joint parish council for all six <unk>",
                  "dann wird es dann nur einen gemeinsamen <unk> für alle sechs <unk> geben"),
           sample("what are the basic physical laws of the <unk>", "was sind die grundlegenden physische <unk> der <unk>"),
           sample("<unk> has made transparent the intensive collaboration between us intelligence services and companies",
                  "<unk> hat die intensive zusammenarbeit zwischen den usa und unternehmen der <unk> erwiesen"),
           sample("the usa have not changed their position regarding the former us secret service employee <unk> <unk>",
                  "die usa haben ihre haltung nicht geändert die <unk> <unk> <unk> <unk>"),
           sample("among other requirements the towns and municipalities applying for the subsidies must levy certain "
                  "municipal rates",
                  "unter anderem müssen die städte und die <unk> die <unk> und bestimmte <unk> <unk>")}};
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
  const std::string& experiment = jobs[0].options.experiment.name;
  const PaperSamples samples = experiment == "coursework" ? coursework_samples() : attention_samples();
  const papers::TestSet& test = jobs[0].corpus.tests[0];
  std::string tables;
  for (const PaperSample& sample : samples.sentences) {
    const auto found = std::ranges::find(test.text.source, sample.source);
    if (found == test.text.source.end()) continue;
    const auto at = static_cast<std::size_t>(found - test.text.source.begin());
    const auto add = [&](const std::string& what, const std::string& sentence) {
      tables += "| " + what + " | " + escaped(sentence) + " |\n";
    };
    tables += "\n| line " + std::to_string(at + 1) + " | |\n| --- | --- |\n";
    add("source", sample.source);
    add("reference", test.text.target[at]);
    for (const std::string& row : samples.rows) {
      if (const auto paper = sample.translations.find(row); paper != sample.translations.end())
        add(row + ", paper", paper->second);
      if (const Job* run = first_run(jobs, row, "outcome.json"))
        add(row + ", here", read_lines(run->folder() / ("translations." + test.name + ".txt")).at(at));
    }
  }
  if (!tables.empty())
    write_file(jobs[0].options.output / (experiment + "-samples.md"),
               "# Sample translations\n\n" + samples.origin + " Best epoch, lowest seed.\n" + tables);
}
