#include "recipe.hpp"

#include "papers/models.hpp"

namespace {

struct Recipe {
  attn::Index pairs;  // for texts of at most so many
  const char *size, *norm;
  std::int64_t vocabulary, epochs, batch;
  const char *unit, *order, *schedule;
  double rate;
  std::int64_t warmup;
  double dropout;
  std::int64_t validate_every;
  double smoothing = 0.1;
  std::int64_t average_best = 0, test_beam = 1;
};

constexpr attn::Index kAny = INT64_MAX;
constexpr Recipe generated{kAny, "small", "post", 1000, 2, 64, "sentences", "pooled", "warmup-cosine", 2e-3, 200, 0, 200};
constexpr Recipe real[] = {
    {15'000, "small", "pre", 4000, 40, 4096, "tokens", "pooled", "inverse-sqrt", 1e-3, 1000, 0.3, 0},
    {100'000, "medium", "pre", 8000, 30, 4096, "tokens", "pooled", "inverse-sqrt", 1e-3, 1000, 0.3, 0},
    {400'000, "medium", "pre", 16'000, 20, 8192, "tokens", "pooled", "inverse-sqrt", 1e-3, 2000, 0.2, 0},
    {kAny, "base", "pre", 32'000, 10, 24'576, "tokens", "pooled", "warmup-cosine", 1e-3, 1000, 0.1, 1000}};

constexpr Recipe paper{kAny,       "base",          "post", 32'000, 10,  88, "sentences",
                       "shuffled", "warmup-cosine", 1e-4,   4000,   0.1, 0,  0};

/// The same with all that the library has.
Recipe best_of(Recipe recipe, bool large) {
  recipe.test_beam = 4;
  if (large) recipe.epochs = 12, recipe.validate_every = 2000, recipe.average_best = 4;
  return recipe;
}

}  // namespace

void apply_recipe(Options& o, attn::Index pairs) {
  const Recipe* by_size = real;
  while (pairs > by_size->pairs) ++by_size;
  const Recipe library = o.bundled() ? generated : *by_size;
  const Recipe recipe = o.recipe == "paper"  ? paper
                        : o.recipe == "best" ? best_of(library, !o.bundled() && by_size->pairs == kAny)
                                             : library;
  const auto set = [&](const char* name, auto& value, auto suggested) {
    if (!o.given.contains(name)) value = suggested, o.suggested.insert(name);
  };
  const bool no_medium = o.model.starts_with("linformer") && std::string(recipe.size) == "medium";
  set("size", o.size, no_medium ? "base" : recipe.size);
  set("norm", o.norm, recipe.norm);
  if (papers::is_recurrent(o.model)) o.suggested = {};  // these have neither
  set("vocabulary", o.vocabulary, recipe.vocabulary);
  set("epochs", o.epochs, recipe.epochs);
  set("batch-unit", o.batch_unit, o.given.contains("batch") ? "sentences" : recipe.unit);
  set("batch", o.batch, o.batch_unit == recipe.unit ? recipe.batch : o.batch_unit == "tokens" ? 4096 : 64);
  set("order", o.order, recipe.order);
  set("schedule", o.schedule, recipe.schedule);
  set("rate", o.rate, recipe.rate);
  set("warmup", o.warmup, recipe.warmup);
  set("dropout", o.dropout, recipe.dropout);
  set("smoothing", o.smoothing, recipe.smoothing);
  set("validate-every", o.validate_every, recipe.validate_every);
  set("average-best", o.average_best, recipe.average_best);
  set("test-beam", o.test_beam, recipe.test_beam);
}
