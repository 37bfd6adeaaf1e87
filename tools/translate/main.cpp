// Translates text with a trained model. Draws its attention and scores it against human word alignments.

#include "attn/run/translate_main.hpp"

int main(int count, char** words) { return attn::translate_main(count, words); }
