#include "recipe.hpp"

#include <nlohmann/json.hpp>

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

}  // namespace

void apply_recipe(Options& o, attn::Index pairs) {
  const Recipe* recipe = o.recipe == "paper" ? &paper : &generated;
  if (recipe == &generated && !o.bundled())
    for (recipe = real; pairs > recipe->pairs; ++recipe) continue;
  const auto set = [&](const char* name, auto& value, auto suggested) {
    if (!o.given.contains(name)) value = suggested;
  };
  set("size", o.size, o.model.starts_with("linformer") && std::string(recipe->size) == "medium" ? "base" : recipe->size);
  set("norm", o.norm, recipe->norm);
  set("vocabulary", o.vocabulary, recipe->vocabulary);
  set("epochs", o.epochs, recipe->epochs);
  set("batch-unit", o.batch_unit, o.given.contains("batch") ? "sentences" : recipe->unit);
  set("batch", o.batch, o.batch_unit == recipe->unit ? recipe->batch : o.batch_unit == "tokens" ? 4096 : 64);
  set("order", o.order, recipe->order);
  set("schedule", o.schedule, recipe->schedule);
  set("rate", o.rate, recipe->rate);
  set("warmup", o.warmup, recipe->warmup);
  set("dropout", o.dropout, recipe->dropout);
  set("smoothing", o.smoothing, recipe->smoothing);
  set("validate-every", o.validate_every, recipe->validate_every);
}

std::string describe_settings(const Options& o) {
  const auto text = [](double value) { return nlohmann::json(value).dump(); };
  return "--epochs " + std::to_string(o.epochs) + " --batch " + std::to_string(o.batch) + " --batch-unit " + o.batch_unit +
         " --order " + o.order + " --schedule " + o.schedule + " --rate " + text(o.rate) + " --warmup " +
         std::to_string(o.warmup) + " --smoothing " + text(o.smoothing) + " --clip " + text(o.clip) + " --dropout " +
         text(o.dropout);
}
