#pragma once
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "attn/core/file.hpp"
#include "attn/core/memory.hpp"
#include "attn/core/types.hpp"
#include "attn/cuda/support/memory.cuh"

namespace attn {

/// Which of cuBLASLt's algorithms a matrix product takes, for every shape met so far. Rows of ragged batches change with every
/// step, so shapes count as equal when their rows round up to the same number: nobody asks the heuristic twice.
class Plans {
 public:
  using Key = std::array<Index, 12>;  // what a product is, rows rounded up: gemm.cuh makes it

  explicit Plans(CudaMemory memory = {}) : memory_(memory) {}

  /// The size that stands for `rows`: the next eighth of a power of two.
  static constexpr Index rounded(Index rows) {
    const Index step = apart(rows);
    return (rows + step - 1) / step * step;
  }
  /// The fewest rows that round up to `most`.
  static constexpr Index fewest(Index most) { return most - apart(most) + 1; }

  const cublasLtMatmulAlgo_t* find(const Key& key) const {
    const auto found = plans_.find(key);
    return found == plans_.end() ? nullptr : &found->second;
  }
  const cublasLtMatmulAlgo_t& set(const Key& key, const cublasLtMatmulAlgo_t& algorithm) { return plans_[key] = algorithm; }
  std::size_t size() const { return plans_.size(); }

  /// Memory that algorithms compute partial results in.
  static constexpr std::size_t kWorkspace = std::size_t{64} << 20;
  void* workspace() {
    if (workspace_.size() == 0)
      workspace_ = Buffer<std::byte, CudaMemory>(memory_, Index{kWorkspace}, "matrix products' scratch");
    return workspace_.data();
  }
  std::size_t capacity() const { return static_cast<std::size_t>(workspace_.size()); }

  /// Writes all plans to a file; `gpu` is what they were made for.
  void save(const std::filesystem::path& path, const std::string& gpu) const {
    std::ostringstream text;
    text << title(gpu) << '\n';
    for (const auto& [key, algorithm] : plans_) {
      for (const Index number : key) text << number << ' ';
      for (const std::uint64_t word : algorithm.data) text << word << ' ';
      text << '\n';
    }
    write_file(path, text.str());
  }
  /// Reads plans that were saved; false, and nothing is changed, where they are of another cuBLASLt or GPU: an algorithm's number
  /// means nothing there.
  bool load(const std::filesystem::path& path, const std::string& gpu) {
    std::istringstream file(read_file(path));
    std::string first;
    if (!std::getline(file, first) || first != title(gpu)) return false;
    std::map<Key, cublasLtMatmulAlgo_t> read;
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      Key key;
      cublasLtMatmulAlgo_t algorithm;
      for (Index& number : key) words >> number;
      for (auto& word : algorithm.data) words >> word;
      require(!words.fail(), path.string(), ": line ", read.size() + 2,
              " is not a plan; delete the file, it will be made again");
      read[key] = algorithm;
    }
    plans_.merge(read);
    return true;
  }

 private:
  static std::string title(const std::string& gpu) {
    return "attn plans 3, cuBLASLt " + std::to_string(cublasLtGetVersion()) + ", " + gpu;
  }

  /// How far from each other the sizes lie that stand for others, near `rows`.
  static constexpr Index apart(Index rows) {
    return rows <= 16 ? 16 : Index{1} << (std::bit_width(static_cast<std::uint64_t>(rows - 1)) - 4);
  }

  std::map<Key, cublasLtMatmulAlgo_t> plans_;
  CudaMemory memory_;
  Buffer<std::byte, CudaMemory> workspace_;
};

}  // namespace attn
