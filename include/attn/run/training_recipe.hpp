#pragma once
#include <cstdint>

#include "attn/run/training_options.hpp"

namespace attn {

/// Settings that learn, for a text of some size.
struct TrainingRecipe {
  static constexpr Index any = INT64_MAX;

  Index pairs;  // for texts of at most so many
  const char *size, *norm;
  Index vocabulary, epochs, batch;
  const char *unit, *order, *schedule;
  double rate;
  Index warmup;
  double dropout;
  Index validate_every;
  double smoothing = 0.1;
  Index average_best = 0, test_beam = 1;
};

/// That of a training text of so many pairs.
constexpr TrainingRecipe recipe_for(Index pairs) {
  constexpr TrainingRecipe by_size[] = {
      {15'000, "small", "pre", 4000, 40, 4096, "tokens", "pooled", "inverse-sqrt", 1e-3, 1000, 0.3, 0},
      {100'000, "medium", "pre", 8000, 30, 4096, "tokens", "pooled", "inverse-sqrt", 1e-3, 1000, 0.3, 0},
      {400'000, "medium", "pre", 16'000, 20, 8192, "tokens", "pooled", "inverse-sqrt", 1e-3, 2000, 0.2, 0},
      {TrainingRecipe::any, "base", "pre", 32'000, 10, 24'576, "tokens", "pooled", "warmup-cosine", 1e-3, 1000, 0.1, 1000}};
  const TrainingRecipe* recipe = by_size;
  while (pairs > recipe->pairs) ++recipe;
  if (pairs >= 5000) return *recipe;
  TrainingRecipe often = *recipe;  // few pairs are seen more often, or there would be too few steps to learn in
  often.epochs = 200'000 / (pairs > 100 ? pairs : 100);
  often.warmup = 400;
  often.validate_every = 100;
  return often;
}

/// The same with all that the library has: a beam for the test, and for the largest texts more time.
constexpr TrainingRecipe best_of(TrainingRecipe recipe) {
  recipe.test_beam = 8;
  if (recipe.pairs == TrainingRecipe::any) recipe.epochs = 12, recipe.validate_every = 2000, recipe.average_best = 4;
  return recipe;
}

/// Fills in what was not given.
inline void apply_recipe(TrainingOptions& o, const TrainingRecipe& recipe) {
  const auto set = [&](const char* name, auto& value, auto suggested) {
    if (!o.given.contains(name)) value = suggested, o.suggested.insert(name);
  };
  set("size", o.size, recipe.size);
  set("norm", o.norm, recipe.norm);
  if (!has_sizes(o.model)) o.suggested = {};  // it has neither
  set("vocabulary", o.text.vocabulary, recipe.vocabulary);
  set("epochs", o.epochs, recipe.epochs);
  set("batch-unit", o.batch_unit, o.given.contains("batch") ? "sentences" : recipe.unit);
  set("batch", o.batch, o.batch_unit == recipe.unit ? recipe.batch : o.batch_unit == "tokens" ? 4096 : 64);
  set("order", o.order, recipe.order);
  set("schedule", o.schedule, recipe.schedule);
  set("rate", o.rate, recipe.rate);
  set("warmup", o.warmup, recipe.warmup);
  set("dropout", o.dropout, recipe.dropout);
  set("smoothing", o.smoothing, recipe.smoothing);
  const bool few_pairs = recipe.pairs <= 15'000;  // who counts their epochs gets a validation after each
  set("validate-every", o.validate_every, few_pairs && o.given.contains("epochs") ? 0 : recipe.validate_every);
  set("average-best", o.average_best, recipe.average_best);
  set("test-beam", o.test_beam, recipe.test_beam);
}

}  // namespace attn
