#include "search_flags.hpp"

#include "attn/run/command_line.hpp"

using namespace attn;

SearchFlags::SearchFlags(CLI::App& app, Options& o) {
  const std::string beam = "Search", sampling = "Sampling", output = "Output";
  search_.beam = 1;
  beam_ = app.add_option("--beam", search_.beam, "Live hypotheses of a sentence; 1 is greedy")
              ->capture_default_str()
              ->check(whole_number(1, 1000))
              ->group(beam);
  of_beam_.push_back(app.add_option("--complete", search_.complete,
                                    "Complete hypotheses at which a sentence's search ends; 0: as many as live ones")
                         ->check(whole_number(0))
                         ->group(beam));
  of_either_.push_back(
      app.add_option(
             "--length-penalty", penalty_,
             "What chooses among complete hypotheses of t tokens: none: log P; length: log P / t^A; reward: log P + "
             "A t; gnmt: log P / ((5 + t) / 6)^A")
          ->capture_default_str()
          ->check(CLI::IsMember({"none", "length", "reward", "gnmt"}))
          ->group(beam));
  amount_ = app.add_option("--penalty-amount", search_.score.amount, "A; 1 for length, 0.2 for reward, 0.6 for gnmt")
                ->check(number(-100, 100))
                ->group(beam);
  of_either_.push_back(amount_);
  of_either_.push_back(app.add_option("--min-length", search_.min_length, "Tokens of a translation at least")
                           ->check(whole_number(0))
                           ->group(beam));
  of_either_.push_back(app.add_option("--no-repeat", search_.no_repeat,
                                      "No so many tokens in a row occur twice in a translation; 0: they may")
                           ->check(whole_number(0))
                           ->group(beam));
  app.add_flag("--sample", sample_, "Draws each token at random instead of searching")->group(sampling);
  of_sampling_ = {app.add_option("--temperature", sampling_.temperature, "Below 1 the probable tokens come more often")
                      ->capture_default_str()
                      ->check(number(1e-3, 1e3))
                      ->group(sampling),
                  app.add_option("--top-k", sampling_.top_k, "Only of so many of the most probable; 0: of all")
                      ->capture_default_str()
                      ->check(whole_number(0))
                      ->group(sampling),
                  app.add_option("--top-p", sampling_.top_p, "Only of the most probable that add up to so much")
                      ->capture_default_str()
                      ->check(number(1e-6, 1))
                      ->group(sampling),
                  app.add_option("--seed", sampling_.seed, "Of the random numbers")
                      ->capture_default_str()
                      ->check(whole_number(0))
                      ->group(sampling)};
  app.add_option("--n-best", n_best_, "Prints so many of the best, or of those drawn: line ||| text ||| score")
      ->check(whole_number(1, 1000))
      ->group(output);
  app.add_flag("--scores", o.scores, "Prints text ||| score: log P, by the length penalty")->group(output);
  app.add_flag("--alignments", o.alignments,
               "Prints ||| 0-0 1-2 ... at the end: words of text and translation that attention links, counted from 0")
      ->group(output);
  app.add_flag("--json", o.json,
               "Prints a JSON object a line: source, translation, complete, and what else is asked for: score, alignment, "
               "n_best")
      ->group(output);
  app.add_option("--draw", o.draw, "SVG file for the tree of hypotheses of the first line; of a beam of 2 without --beam")
      ->group(output);
}

void SearchFlags::apply(Options& o) {
  for (const CLI::Option* option : of_sampling_)
    if (!sample_ && option->count() > 0) throw CLI::ValidationError(option->get_name() + " goes with --sample");
  if (sample_ && (beam_->count() > 0 || of_beam_[0]->count() > 0 || !o.draw.empty()))
    throw CLI::ValidationError("--sample draws translations: it goes without --beam, --complete and --draw");
  if (!sample_ && n_best_ > std::max(search_.beam, search_.complete))
    throw CLI::ValidationError("--n-best " + std::to_string(n_best_) + " needs a --beam as wide; it is " +
                               std::to_string(search_.beam));
  search_.score.kind = penalty_ == "none"     ? Score::log_probability
                       : penalty_ == "reward" ? Score::word_reward
                       : penalty_ == "gnmt"   ? Score::gnmt
                                              : Score::length;
  if (amount_->count() == 0) search_.score.amount = penalty_ == "reward" ? 0.2 : penalty_ == "gnmt" ? 0.6 : 1;
  o.n_best = n_best_ > 0;
  search_.n_best = std::max<Index>(n_best_, 1);
  if (sample_) search_.sampling = sampling_;
  if (!o.draw.empty() && beam_->count() == 0) search_.beam = 2;
  bool asked = sample_ || beam_->count() > 0 || search_.beam > 1 || o.n_best || o.scores || of_beam_[0]->count() > 0;
  for (const CLI::Option* option : of_either_) asked = asked || option->count() > 0;
  if (asked) o.search = search_;
}
