#pragma once
#include "attn/core/types.hpp"

// Results of "Evaluating Linformer's performance on the WMT14 EN-DE machine translation task".

/// A model and its results in tables 3 and 4.
struct PaperModel {
  const char *name, *title;  // value of `--model`, display name
  double perplexity, bleu;
  double rescored_bleu;  // sacreBLEU 13a of the paper's own translations of all 3,003 sentences
  double seconds_a_batch, hours;
};

inline constexpr std::array<PaperModel, 3> paper_models{
    {{"transformer", "Transformer", 3.41, 29.92, 18.68, 0.221, 14.3},
     {"linformer32", "Linformer, k = 32", 3.96, 30.08, 14.15, 0.205, 13.2},
     {"linformer64", "Linformer, k = 64", 3.84, 27.74, 15.18, 0.209, 13.4}}};

/// Points read off figure 2: sentence length, and milliseconds of an encoder over 16,384 tokens on an RTX 3090.
inline constexpr std::array<std::pair<attn::Index, double>, 7> paper_encoder_milliseconds{
    {{256, 43}, {512, 47}, {1024, 57}, {2048, 87}, {4096, 128}, {8192, 215}, {16384, 387}}};
inline constexpr double paper_linformer128_milliseconds = 40;  // at every length

/// First words of the test sentences in section 6.2 and appendix A, long enough to be unique.
inline constexpr std::array<const char*, 12> paper_examples{"The school yard renovation was originally planned",
                                                            "Consequently, they will be particularly motivated",
                                                            "They're not all experienced racers",
                                                            "The letter extends an offer to cooperate",
                                                            "The residents of the Bischof-Freundorfer-Weg",
                                                            "The ice cream harnesses the fluorescent",
                                                            "Gutach: Increased safety for pedestrians",
                                                            "He was spared a driving ban",
                                                            "I did this mainly because I hankered",
                                                            "This year, sexy inanimate objects",
                                                            "Was his death the result of a crime",
                                                            "A \"genuineness\" test for foreign workers"};
