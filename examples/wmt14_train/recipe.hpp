#pragma once
#include "options.hpp"

/// Fills in options that the command line leaves open, by the size of the training text in pairs
/// (common/training_recipe.hpp). The generated corpus has its own recipe: it is small and regular, and training does not
/// repeat it often enough to overfit. The recipe `paper` is that of "Evaluating Linformer's performance on the WMT14 EN-DE
/// machine translation task", for any size.
void apply_recipe(Options& options, attn::Index pairs);
