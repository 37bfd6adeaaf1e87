#pragma once
#include <sstream>

#include "common/training_command_line.hpp"

namespace attn {

/// Recommended training settings for a text of `pairs` training pairs.
struct TrainingRecipe {
  Index pairs;
  Metadata settings;  // by the names of options

  /// The recipe with these settings, given as in "size=small epochs=40", instead of its own.
  TrainingRecipe with(const std::string& changes) const {
    TrainingRecipe recipe = *this;
    std::istringstream words(changes);
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      recipe.settings[word.substr(0, equals)] = word.substr(equals + 1);
    }
    return recipe;
  }
};

/// Numbers of pairs at which recipes change: below the first, epochs grow; small models up to the second; base models above
/// the third.
inline constexpr Index kFewPairs = 5000, kSmallText = 15'000, kLargeText = 400'000;

/// The recipe for a number of training pairs.
inline TrainingRecipe recipe_for(Index pairs) {
  const TrainingRecipe recipe = TrainingRecipe{pairs, {}}.with(
      "norm=pre batch-unit=tokens order=pooled schedule=inverse-sqrt rate=0.001 warmup=1000 validate-every=0 smoothing=0.1 "
      "average-best=0 test-beam=1");
  if (pairs > kLargeText)
    return recipe.with(
        "size=base vocabulary=32000 epochs=10 batch=24576 schedule=warmup-cosine dropout=0.1 validate-every=1000");
  if (pairs > 100'000) return recipe.with("size=medium vocabulary=16000 epochs=20 batch=8192 warmup=2000 dropout=0.2");
  if (pairs > kSmallText) return recipe.with("size=medium vocabulary=8000 epochs=30 batch=4096 dropout=0.3");
  const TrainingRecipe small = recipe.with("size=small vocabulary=4000 epochs=40 batch=4096 dropout=0.3");
  if (pairs >= kFewPairs) return small;
  const Index epochs = 200'000 / std::max<Index>(pairs, 100);  // small texts need more epochs to get enough steps
  return small.with("warmup=400 validate-every=100 epochs=" + std::to_string(epochs));
}

/// Best-quality recipe: beam search for the test, longer training for the largest texts, a larger model for small ones.
inline TrainingRecipe best_of(const TrainingRecipe& recipe) {
  if (recipe.pairs > kLargeText) return recipe.with("test-beam=8 epochs=12 validate-every=2000 average-best=4");
  return recipe.with(recipe.pairs >= kFewPairs && recipe.pairs <= kSmallText ? "test-beam=8 size=medium" : "test-beam=8");
}

/// Fills in options that were not given.
inline void apply_recipe(TrainingOptions& o, const TrainingRecipe& recipe) {
  Metadata settings = recipe.settings;
  const std::string unit = settings.at("batch-unit");
  if (o.given.contains("batch")) settings["batch-unit"] = "sentences";
  if (o.given.contains("batch-unit") && setting_name(o.batches.unit) != unit)
    settings["batch"] = o.batches.unit == BatchUnit::tokens ? "4096" : "64";
  if (o.given.contains("epochs") && recipe.pairs < kFewPairs) settings["validate-every"] = "0";
  std::erase_if(settings, [&](const auto& setting) { return o.given.contains(setting.first); });
  read_settings(o, settings, "a recipe");
  for (const auto& [name, value] : settings)
    if (has_sizes(o.model) || (name != "size" && name != "norm")) o.suggested.insert(name);
}

}  // namespace attn
