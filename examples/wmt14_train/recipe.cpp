#include "recipe.hpp"

#include "attn/run/training_recipe.hpp"

using attn::TrainingRecipe;

namespace {

constexpr TrainingRecipe generated{56'000,   "small",         "post", 1000, 2, 64, "sentences",
                                   "pooled", "warmup-cosine", 2e-3,   200,  0, 200};
constexpr TrainingRecipe paper{TrainingRecipe::any, "base",          "post", 32'000, 10,  88, "sentences",
                               "shuffled",          "warmup-cosine", 1e-4,   4000,   0.1, 0,  0};

}  // namespace

void apply_recipe(Options& o, attn::Index pairs) {
  const TrainingRecipe library = o.bundled() ? generated : attn::recipe_for(pairs);
  apply_recipe(o, o.recipe == "paper" ? paper : o.recipe == "best" ? best_of(library) : library);
}
