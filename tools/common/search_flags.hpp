#pragma once
#include <filesystem>

#include "common/command_line.hpp"
#include "common/print_translation.hpp"
#include "common/search_changes.hpp"

namespace attn {

/// Command-line options for the search and its output. Needs CLI11.
class SearchFlags {
 public:
  /// `draw` receives the path of the hypothesis tree.
  SearchFlags(CLI::App& app, PrintOptions& print, std::filesystem::path& draw) : print_(print), draw_(draw) {
    const AddOptions beam{app, "Search"}, sampling{app, "Sampling"}, output{app, "Output"};
    beam_ = beam("--beam", changes_.beam, "Beam size; 1: greedy. Default: that of the model folder, else 1",
                 whole_number(1, 1000));
    complete_ = beam("--complete", changes_.complete,
                     "End the search of a sentence after this many complete hypotheses; 0: the beam size", whole_number(0));
    penalty_ = beam("--length-penalty", penalty_name_,
                    "Score of complete hypotheses of t tokens: none: log P; length: log P / t^A; reward: log P + A t; "
                    "gnmt: log P / ((5 + t) / 6)^A. Default: length",
                    CLI::IsMember({"none", "length", "reward", "gnmt"}));
    amount_ = beam("--penalty-amount", changes_.amount,
                   "A of --length-penalty. Default: 1 for length, 0.2 for reward, 0.6 for gnmt", number(-100, 100));
    all_ = {beam_,
            complete_,
            penalty_,
            amount_,
            beam("--min-length", changes_.min_length, "Minimum tokens per translation", whole_number(0)),
            beam("--no-repeat", changes_.no_repeat, "Forbid repeated n-grams of this size; 0: off", whole_number(0)),
            sampling("--sample", sample_, "Sample instead of searching")};
    of_sampling_ = {
        sampling("--temperature", sampling_.temperature, "Sampling temperature; below 1: prefer probable tokens",
                 number(1e-3, 1e3)),
        sampling("--top-k", sampling_.top_k, "Sample from the K most probable tokens; 0: all", whole_number(0)),
        sampling("--top-p", sampling_.top_p, "Sample from the fewest tokens whose probabilities sum to P", number(1e-6, 1)),
        sampling("--seed", sampling_.seed, "Seed of the random numbers", whole_number(0, INT64_MAX))};
    for (CLI::Option* option : of_sampling_) option->capture_default_str();
    all_.insert(
        all_.end(),
        {output("--n-best", changes_.n_best,
                "Print the N best hypotheses, or N samples: line ||| text ||| score, with lines counted from 0",
                whole_number(1, 1000)),
         output("--scores", print.scores, "Print text ||| score, where the score is log P with the length penalty"),
         output("--alignments", print.alignments,
                "Append ||| 0-0 1-2 ...: pairs of source and target words that attention aligns, counted from 0"),
         output(
             "--json", print.json,
             "Print one JSON object per line: source, translation, complete and, if requested, score, alignment, n_best"),
         output("--draw", draw,
                "Draw the hypothesis tree of the first line as SVG to this file; greedy search draws a beam of 2")});
  }

  /// The first given option, or nullptr.
  const CLI::Option* given() const {
    for (const CLI::Option* option : all_)
      if (option->count() > 0) return option;
    return nullptr;
  }

  /// The search changes; call after parsing. Throws CLI::ValidationError if options conflict.
  SearchChanges changes() {
    for (const CLI::Option* option : of_sampling_)
      if (!sample_ && option->count() > 0) throw CLI::ValidationError(option->get_name() + " requires --sample");
    if (sample_ && (beam_->count() > 0 || complete_->count() > 0 || !draw_.empty()))
      throw CLI::ValidationError("--sample conflicts with --beam, --complete and --draw");
    if (penalty_name_ == "none" && amount_->count() > 0)
      throw CLI::ValidationError("--penalty-amount conflicts with --length-penalty none");
    if (penalty_->count() > 0)
      changes_.score = penalty_name_ == "none"     ? ScoreKind::log_probability
                       : penalty_name_ == "reward" ? ScoreKind::word_reward
                       : penalty_name_ == "gnmt"   ? ScoreKind::gnmt
                                                   : ScoreKind::length;
    if (sample_) changes_.sampling = sampling_;
    changes_.scores = print_.scores;
    print_.n_best = changes_.n_best > 0;
    return changes_;
  }

 private:
  PrintOptions& print_;
  std::filesystem::path& draw_;
  SearchChanges changes_;
  Sampling sampling_;
  std::string penalty_name_;
  bool sample_ = false;
  CLI::Option *beam_, *complete_, *penalty_, *amount_;
  std::vector<CLI::Option*> all_, of_sampling_;
};

}  // namespace attn
