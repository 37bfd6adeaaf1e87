#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "attn/run/command_line.hpp"
#include "attn/run/print_translation.hpp"
#include "attn/run/search_changes.hpp"

namespace attn {

/// The options of a command line that say how to search, and what of it to print. Needs CLI11.
class SearchFlags {
 public:
  /// `draw` gets the file for the tree of hypotheses.
  SearchFlags(CLI::App& app, PrintOptions& print, std::filesystem::path& draw) : print_(print), draw_(draw) {
    const AddOptions beam{app, "Search"}, sampling{app, "Sampling"}, output{app, "Output"};
    beam_ = beam("--beam", changes_.beam,
                 "Live hypotheses of a sentence; 1 is greedy, as it is unless the model's folder says otherwise",
                 whole_number(1, 1000));
    complete_ = beam("--complete", changes_.complete,
                     "Complete hypotheses at which a sentence's search ends; 0: as many as live ones", whole_number(0));
    penalty_ =
        beam("--length-penalty", penalty_name_,
             "What chooses among complete hypotheses of t tokens: none: log P; length: log P / t^A; reward: log P + A t; "
             "gnmt: log P / ((5 + t) / 6)^A; length unless told",
             CLI::IsMember({"none", "length", "reward", "gnmt"}));
    amount_ = beam("--penalty-amount", changes_.amount, "A; 1 for length, 0.2 for reward, 0.6 for gnmt", number(-100, 100));
    all_ = {beam_,
            complete_,
            penalty_,
            amount_,
            beam("--min-length", changes_.min_length, "Tokens of a translation at least", whole_number(0)),
            beam("--no-repeat", changes_.no_repeat, "No so many tokens in a row occur twice in a translation; 0: they may",
                 whole_number(0)),
            sampling("--sample", sample_, "Draws each token at random instead of searching")};
    of_sampling_ = {
        sampling("--temperature", sampling_.temperature, "Below 1 the probable tokens come more often", number(1e-3, 1e3)),
        sampling("--top-k", sampling_.top_k, "Only of so many of the most probable; 0: of all", whole_number(0)),
        sampling("--top-p", sampling_.top_p, "Only of the most probable that add up to so much", number(1e-6, 1)),
        sampling("--seed", sampling_.seed, "Of the random numbers", whole_number(0))};
    for (CLI::Option* option : of_sampling_) option->capture_default_str();
    all_.insert(
        all_.end(),
        {output("--n-best", changes_.n_best,
                "Prints so many of the best, or of those drawn: line ||| text ||| score, lines counted from 0",
                whole_number(1, 1000)),
         output("--scores", print.scores, "Prints text ||| score: log P, by the length penalty"),
         output("--alignments", print.alignments,
                "Prints ||| 0-0 1-2 ... at the end: words of text and translation that attention links, counted from 0"),
         output("--json", print.json,
                "Prints a JSON object a line: source, translation, complete, and what else is asked for: score, "
                "alignment, n_best"),
         output("--draw", draw,
                "SVG file for the tree of hypotheses of the first line; of a beam of 2 where the text is translated "
                "greedily")});
  }

  /// The first of them that was given, or none.
  const CLI::Option* given() const {
    for (const CLI::Option* option : all_)
      if (option->count() > 0) return option;
    return nullptr;
  }

  /// After the command line was read: what it changes. Throws CLI::ValidationError where options do not go together.
  SearchChanges changes() {
    for (const CLI::Option* option : of_sampling_)
      if (!sample_ && option->count() > 0) throw CLI::ValidationError(option->get_name() + " goes with --sample");
    if (sample_ && (beam_->count() > 0 || complete_->count() > 0 || !draw_.empty()))
      throw CLI::ValidationError("--sample draws translations: it goes without --beam, --complete and --draw");
    if (penalty_name_ == "none" && amount_->count() > 0)
      throw CLI::ValidationError("--penalty-amount is that of a length penalty: it goes without --length-penalty none");
    if (penalty_->count() > 0)
      changes_.score = penalty_name_ == "none"     ? Score::log_probability
                       : penalty_name_ == "reward" ? Score::word_reward
                       : penalty_name_ == "gnmt"   ? Score::gnmt
                                                   : Score::length;
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
