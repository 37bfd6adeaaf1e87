#pragma once
#include "attn/run/open_translator.hpp"
#include "options.hpp"

/// Translates the text, line by line, to standard output; with maps of every sentence if the options name a folder.
void translate_text(const Options& options, attn::FolderTranslator& translator);

/// Looks at the text and its given translations: maps, and the alignment error rate of every layer.
void look_at_pairs(const Options& options, const attn::FolderTranslator& translator);
