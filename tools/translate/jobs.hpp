#pragma once
#include "attn/run/open_translator.hpp"
#include "options.hpp"

namespace attn::translate_tool {

/// Translates the text line by line to standard output. Writes attention maps if the options name a folder.
void translate_text(const Options& options, FolderTranslator& translator);

/// Runs the model on the text and given translations: writes attention maps and the alignment error rate of each layer.
void look_at_pairs(const Options& options, const FolderTranslator& translator);

}  // namespace attn::translate_tool
