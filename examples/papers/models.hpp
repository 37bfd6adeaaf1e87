#pragma once
#include <string>
#include <vector>

#include "attn/run/model_registry.hpp"

namespace papers {

/// The recurrent models of the papers, each in its paper's size. A score's three attend to the encoder, to the decoder's past
/// too, and to both above self-attention.
const std::vector<std::string>& model_names();
bool is_recurrent(const std::string& name);

/// Adds them all, and the tokenizers of their texts, to what a program knows.
void add_models(attn::ModelRegistry& registry);

}  // namespace papers
