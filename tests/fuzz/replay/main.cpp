// Gives every file of a folder to a fuzz target once, without a fuzzer: fuzz_NAME FOLDER
#include <cstdint>
#include <filesystem>
#include <iostream>

#include "attn/core/file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count);

int main(int count, char** arguments) try {
  attn::require(count == 2, "usage: ", arguments[0], " FOLDER");
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[1])) {
    std::cout << entry.path().filename().string() << std::endl;  // before a crash
    const std::string bytes = attn::read_file(entry.path());
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++cases;
  }
  attn::require(cases > 0, arguments[1], " has no cases");
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
