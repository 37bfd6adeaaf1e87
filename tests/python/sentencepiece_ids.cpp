// Shows sentencepiece.py what attn makes of text: reads lines, answers each with one.
//     sentencepiece_ids ids MODEL     the ids of each text
//     sentencepiece_ids pieces MODEL  its pieces
//     sentencepiece_ids text MODEL    the text of each line of ids
//     sentencepiece_ids joined MODEL  the text of each line of pieces
// Texts and pieces are any bytes, so they travel as hexadecimal digits; an empty one as a dash.
#include <iostream>
#include <sstream>
#include <string>

#include "attn/text/sentencepiece.hpp"

namespace {

std::string bytes_of(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string digits_of(const std::string& bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) text += {digits[static_cast<unsigned char>(byte) >> 4], digits[byte & 15]};
  return text.empty() ? "-" : text;
}

}  // namespace

int main(int count, char** arguments) try {
  std::ios::sync_with_stdio(false);
  attn::require(count == 3, "sentencepiece_ids: needs what to do and a model");
  const std::string what = arguments[1];
  const attn::SentencePiece tokenizer = attn::load_sentencepiece(arguments[2]);
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (what == "ids") {
      for (const attn::Token id : tokenizer.encode(bytes_of(line))) std::cout << id << ' ';
    } else if (what == "pieces") {
      for (const std::string& piece : tokenizer.pieces(bytes_of(line))) std::cout << digits_of(piece) << ' ';
    } else if (what == "text") {
      std::vector<attn::Token> ids;
      for (const std::string& word : words) ids.push_back(static_cast<attn::Token>(std::stol(word)));
      std::cout << digits_of(tokenizer.decode(ids));
    } else {
      attn::require(what == "joined", "sentencepiece_ids: there is no '", what, "': ids, pieces, text or joined");
      for (std::string& word : words) word = bytes_of(word);
      std::cout << digits_of(tokenizer.decode_pieces(words));
    }
    std::cout << '\n';
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
