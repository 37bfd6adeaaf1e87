#pragma once
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "attn/decode/search_options.hpp"
#include "attn/run/command_line.hpp"
#include "attn/run/print_translation.hpp"

namespace attn {

/// The options of a command line that say how to search, and what of it to print. Needs CLI11.
class SearchFlags {
 public:
  /// `draw` gets the file for the tree of hypotheses.
  SearchFlags(CLI::App& app, PrintOptions& print, std::filesystem::path& draw) : print_(print), draw_(draw) {
    const AddOptions beam{app, "Search"}, sampling{app, "Sampling"}, output{app, "Output"};
    search_.beam = 1;
    beam_ = beam("--beam", search_.beam, "Live hypotheses of a sentence; 1 is greedy", whole_number(1, 1000))
                ->capture_default_str();
    complete_ = beam("--complete", search_.complete,
                     "Complete hypotheses at which a sentence's search ends; 0: as many as live ones", whole_number(0));
    CLI::Option* penalty =
        beam("--length-penalty", penalty_,
             "What chooses among complete hypotheses of t tokens: none: log P; length: log P / t^A; reward: log P + A t; "
             "gnmt: log P / ((5 + t) / 6)^A",
             CLI::IsMember({"none", "length", "reward", "gnmt"}))
            ->capture_default_str();
    amount_ =
        beam("--penalty-amount", search_.score.amount, "A; 1 for length, 0.2 for reward, 0.6 for gnmt", number(-100, 100));
    of_either_ = {penalty, amount_,
                  beam("--min-length", search_.min_length, "Tokens of a translation at least", whole_number(0)),
                  beam("--no-repeat", search_.no_repeat,
                       "No so many tokens in a row occur twice in a translation; 0: they may", whole_number(0))};
    sampling("--sample", sample_, "Draws each token at random instead of searching");
    of_sampling_ = {
        sampling("--temperature", sampling_.temperature, "Below 1 the probable tokens come more often", number(1e-3, 1e3)),
        sampling("--top-k", sampling_.top_k, "Only of so many of the most probable; 0: of all", whole_number(0)),
        sampling("--top-p", sampling_.top_p, "Only of the most probable that add up to so much", number(1e-6, 1)),
        sampling("--seed", sampling_.seed, "Of the random numbers", whole_number(0))};
    for (CLI::Option* option : of_sampling_) option->capture_default_str();
    output("--n-best", n_best_,
           "Prints so many of the best, or of those drawn: line ||| text ||| score, lines counted from 0",
           whole_number(1, 1000));
    output("--scores", print.scores, "Prints text ||| score: log P, by the length penalty");
    output("--alignments", print.alignments,
           "Prints ||| 0-0 1-2 ... at the end: words of text and translation that attention links, counted from 0");
    output("--json", print.json,
           "Prints a JSON object a line: source, translation, complete, and what else is asked for: score, alignment, "
           "n_best");
    output("--draw", draw, "SVG file for the tree of hypotheses of the first line; of a beam of 2 without --beam");
  }

  /// After the command line was read: the search that it means; none where it asks for none. Throws CLI::ValidationError where
  /// options do not go together.
  std::optional<SearchOptions> search() {
    for (const CLI::Option* option : of_sampling_)
      if (!sample_ && option->count() > 0) throw CLI::ValidationError(option->get_name() + " goes with --sample");
    if (sample_ && (beam_->count() > 0 || complete_->count() > 0 || !draw_.empty()))
      throw CLI::ValidationError("--sample draws translations: it goes without --beam, --complete and --draw");
    if (!sample_ && n_best_ > std::max(search_.beam, search_.complete))
      throw CLI::ValidationError("--n-best " + std::to_string(n_best_) + " needs a --beam as wide; it is " +
                                 std::to_string(search_.beam));
    search_.score.kind = penalty_ == "none"     ? Score::log_probability
                         : penalty_ == "reward" ? Score::word_reward
                         : penalty_ == "gnmt"   ? Score::gnmt
                                                : Score::length;
    if (amount_->count() == 0) search_.score.amount = penalty_ == "reward" ? 0.2 : penalty_ == "gnmt" ? 0.6 : 1;
    print_.n_best = n_best_ > 0;
    search_.n_best = std::max<Index>(n_best_, 1);
    if (sample_) search_.sampling = sampling_;
    if (!draw_.empty() && beam_->count() == 0) search_.beam = 2;
    bool asked =
        sample_ || beam_->count() > 0 || search_.beam > 1 || n_best_ > 0 || print_.scores || complete_->count() > 0;
    for (const CLI::Option* option : of_either_) asked = asked || option->count() > 0;
    return asked ? std::optional(search_) : std::nullopt;
  }

 private:
  PrintOptions& print_;
  std::filesystem::path& draw_;
  SearchOptions search_;
  Sampling sampling_;
  std::string penalty_ = "length";
  Index n_best_ = 0;
  bool sample_ = false;
  CLI::Option *beam_, *complete_, *amount_;
  std::vector<CLI::Option*> of_sampling_, of_either_;
};

}  // namespace attn
