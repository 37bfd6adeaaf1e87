// Shows byte_bpe.py what attn makes of text: reads lines, writes a line of numbers for each.
//     byte_bpe_ids ids VOCAB MERGES       the ids of each line
//     byte_bpe_ids specials VOCAB MERGES  the same, with the names of special tokens standing for them
//     byte_bpe_ids words VOCAB MERGES     the bytes of each word of each line
//     byte_bpe_ids text VOCAB MERGES      the text of each line of ids
//     byte_bpe_ids train VOCAB MERGES SIZE: learns from all lines and writes the two files
// A newline inside a text travels as \n and a backslash as \\.
#include <iostream>
#include <sstream>
#include <string>

#include "attn/text/bpe_training.hpp"
#include "attn/text/byte_bpe_files.hpp"

namespace {

std::string unescaped(const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\')
      text += line[i];
    else
      text += line[++i] == 'n' ? '\n' : '\\';
  }
  return text;
}

std::string escaped(const std::string& text) {
  std::string line;
  for (const char byte : text) line += byte == '\n' ? "\\n" : byte == '\\' ? "\\\\" : std::string(1, byte);
  return line;
}

void print(const std::vector<attn::Token>& numbers) {
  for (const attn::Token number : numbers) std::cout << number << ' ';
  std::cout << '\n';
}

void answer(const std::string& what, const attn::ByteBpe& bpe, const std::string& line) {
  std::vector<attn::Token> numbers;
  if (what == "ids") {
    bpe.encode(unescaped(line), numbers);
  } else if (what == "specials") {
    numbers = bpe.encode_with_specials(unescaped(line));
  } else if (what == "words") {
    attn::for_each_word(unescaped(line), [&](auto word) { numbers.push_back(static_cast<attn::Token>(word.size())); });
  } else if (what == "text") {
    std::istringstream stream(line);
    for (attn::Token id; stream >> id;) numbers.push_back(id);
    std::cout << escaped(bpe.decode(numbers)) << '\n';
    return;
  } else {
    attn::fail("byte_bpe_ids: there is no '", what, "': ids, specials, words, text or train");
  }
  print(numbers);
}

}  // namespace

int main(int count, char** arguments) try {
  std::ios::sync_with_stdio(false);
  attn::require(count >= 4, "byte_bpe_ids: needs what to do, a vocab.json and a merges.txt");
  const std::string what = arguments[1], vocab = arguments[2], merges = arguments[3];
  if (what == "train") {
    attn::require(count == 5, "byte_bpe_ids: train needs the size of the vocabulary");
    attn::BpeTrainer trainer;
    for (std::string line; std::getline(std::cin, line);) trainer.add(unescaped(line));
    attn::save_byte_bpe(trainer.train(std::stoll(arguments[4])), vocab, merges);
    return 0;
  }
  const attn::ByteBpe bpe = attn::load_byte_bpe(vocab, merges);
  for (std::string line; std::getline(std::cin, line);) answer(what, bpe, line);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
