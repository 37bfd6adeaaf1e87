#include "options.hpp"

#include "common/training_recipe.hpp"

using namespace attn;

namespace {

const char* generated =
    "size=small norm=post vocabulary=1000 epochs=2 batch=64 batch-unit=sentences order=pooled schedule=warmup-cosine "
    "rate=0.002 warmup=200 dropout=0 validate-every=200 smoothing=0.1 average-best=0 test-beam=1";
const char* paper =
    "size=base norm=post vocabulary=32000 epochs=10 batch=88 batch-unit=sentences order=shuffled schedule=warmup-cosine "
    "rate=0.0001 warmup=4000 dropout=0.1 validate-every=0 smoothing=0 average-best=0 test-beam=1";

}  // namespace

void apply_recipe(Options& o, Index pairs) {
  const TrainingRecipe library = o.bundled() ? TrainingRecipe{56'000, {}}.with(generated) : recipe_for(pairs);
  apply_recipe(o, o.recipe == RecipeKind::paper  ? TrainingRecipe{INT64_MAX, {}}.with(paper)
                  : o.recipe == RecipeKind::best ? best_of(library)
                                                 : library);
}
