#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "attn/text/word_split.hpp"

namespace attn {

namespace plain {

struct Contraction {
  std::string short_form, long_form;
};

/// The expansions in order. 've comes last: 'll and 'd can leave one (we'll've, we will've, we will have). Ambiguous forms
/// (he'd: he had, he would) follow Chittersu's preprocessing.
inline const std::vector<Contraction>& contractions() {
  struct Rule {
    std::string_view ending, becomes, stems;
  };
  static constexpr Rule rules[] = {
      {"n't", " not", "are could did does do had has have is may might must need ought should was were would"},
      {"'d", " had", "I he it she there they we you"},
      {"'d", " did", "how where"},
      {"'d", " would", "that"},
      {"'ll", " shall", "I he it she they what who you"},
      {"'ll", " will", "how we"},
      {"'s", " has", "he how it she that there what when where who why"},
      {"'re", " are", "they we what you"},
      {"'m", " am", "I"},
      {"'ve", " have", "I could might must should so they to we what when where who why will would you"}};
  static const std::vector<Contraction> list = [] {
    std::vector<Contraction> all{{"ain't", "am not"},      {"can't", "cannot"},        {"shan't", "shall not"},
                                 {"sha'n't", "shall not"}, {"won't", "will not"},      {"let's", "let us"},
                                 {"so's", "so as"},        {"'cause", "because"},      {"ma'am", "madam"},
                                 {"y'all", "you all"},     {"o'clock", "of the clock"}};
    for (const auto& [ending, becomes, stems] : rules)
      for_each_spaced_word(stems, [&, &ending = ending, &becomes = becomes](std::string_view stem) {
        all.push_back({std::string(stem).append(ending), std::string(stem).append(becomes)});
      });
    return all;
  }();
  return list;
}

}  // namespace plain

/// Expands English contractions: don't -> do not. Also matches inside words (she's contains he's). Case-sensitive, as in
/// Chittersu's preprocessing: I'm becomes I am, while Don't and It's stay.
inline void expand_contractions(std::string& line) {
  constexpr char apostrophe = '\'';
  if (line.find(apostrophe) == std::string::npos) return;
  for (const auto& [short_form, long_form] : plain::contractions()) {
    const std::size_t before = short_form.find(apostrophe);
    std::string expanded;
    std::size_t done = 0;  // bytes of the line already copied to `expanded`
    for (std::size_t at = line.find(apostrophe); at != line.npos; at = line.find(apostrophe, at + 1)) {
      if (at < done + before || line.compare(at - before, short_form.size(), short_form) != 0) continue;
      expanded.append(line, done, at - before - done).append(long_form);
      done = at - before + short_form.size();
      at = done - 1;
    }
    if (done > 0) line = expanded.append(line, done);
  }
}

}  // namespace attn
