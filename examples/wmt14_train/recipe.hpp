#pragma once
#include "options.hpp"

/// Fills in what the command line leaves open: settings that learn, by the size of the training text in pairs
/// (attn/run/training_recipe.hpp). Those of the generated corpus are for it alone: it is small, regular, and never seen often
/// enough to be learnt by heart. The recipe `paper` is that of "Evaluating Linformer's performance on the WMT14 EN-DE machine
/// translation task", whatever the size.
void apply_recipe(Options& options, attn::Index pairs);
