#pragma once
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/format_count.hpp"
#include "attn/core/matrix.hpp"
#include "attn/core/memory.hpp"
#include "attn/core/position_tables.hpp"
#include "attn/core/repeated_step.hpp"
#include "attn/cpu/packed_weights.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace attn {

struct CpuOptions {
  int threads = 0;                 // 0: one a core
  bool bfloat16_products = false;  // Cpu<float>: round the operands of matrix products to bfloat16; sums stay float
  bool int8_weights = false;  // Cpu<float>: round the weights of models made for inference, and what they multiply, to int8
};

namespace cpu {

/// Numbers that take longer to copy than it does to wake the other threads, and rows of them.
inline constexpr Index kWorthwhile = 1 << 14;
inline Index worthwhile_rows(Index cols) { return std::max<Index>(1, kWorthwhile / std::max<Index>(1, cols)); }

}  // namespace cpu

/// Whether the compiler may use instructions for bf16 matrix products: on ARM, those of BF16.
#ifdef __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
inline constexpr bool kHasBfloat16Products = true;
#else
inline constexpr bool kHasBfloat16Products = false;
#endif

/// The host's processor as a device: computes in T (float, or double, which is the specification that everything is tested
/// against), with OpenMP over its cores. Results do not depend on the number of threads.
template <class T>
class Cpu {
 public:
  using Scalar = T;                                        // activations and the weights that models compute with
  using Real = T;                                          // statistics, gradients of parameters, optimiser state
  using Memory = HostMemory;                               // where they live
  static constexpr Index logits_at_once = Index{1} << 22;  // a chunk that stays in the caches
  static constexpr Index ragged_block = 0;                 // no list of blocks: see Ragged

  explicit Cpu(CpuOptions options) : options_(options) {
    if (options_.threads <= 0) options_.threads = all_cores();
    require(!options.bfloat16_products || std::is_same_v<T, float>, "bf16 matrix products are for Cpu<float>");
    require(
        !options.bfloat16_products || kHasBfloat16Products,
        "this program was compiled for processors without instructions for bf16 matrix products (ARM's BF16): compile it "
        "on one that has them, with -march=native, or compute in float");
    require(!options.int8_weights || std::is_same_v<T, float>, "int8 weights are for Cpu<float>");
    require(!options.int8_weights || !options.bfloat16_products,
            "a device has int8 weights or bf16 matrix products, not both");
    workspaces_.resize(static_cast<std::size_t>(threads()));
  }
  explicit Cpu(int threads = 0) : Cpu(CpuOptions{.threads = threads}) {}
  /// A device of one thread beside another, for the same models at the same time: it shares what was made of their weights.
  static std::unique_ptr<Cpu> beside(const Cpu& other) {
    CpuOptions options = other.options_;
    options.threads = 1;
    auto device = std::make_unique<Cpu>(options);
    device->weights_ = other.weights_;
    return device;
  }

  int threads() const { return options_.threads; }
  const CpuOptions& options() const { return options_; }
  cpu::PackedWeights<T>& weights() const { return *weights_; }  // of models made for inference
  std::string description() const {
    return counted(threads(), "thread") + (options_.bfloat16_products ? ", bf16 matrix products" : "") +
           (options_.int8_weights ? ", int8 weights" : "");
  }
  Arena<Memory> activations{"activations"};            // rewound by each tape
  Pool<Memory> gradients{"gradients of activations"};  // in the backward pass
  Arena<HostMemory> tape_nodes{"the tape's record"};   // what the tape recorded
  std::uint64_t tapes_begun = 0;
  PositionTables<Cpu> positions;

  bool repeats_step = false;  // as decode/step_graph.hpp does: it may not upload
  template <class U>
  void upload(U* to, const U* from, Index count) const {
    refuse_in_repeated_step(repeats_step);
    copy(to, from, count);
  }
  template <class U>
  void download(U* to, const U* from, Index count) const {
    copy(to, from, count);
  }
  template <class U>
  void zero(U* data, Index count) const {
    if (count > 0) std::memset(static_cast<void*>(data), 0, static_cast<std::size_t>(count) * sizeof(U));
  }
  template <class U>
  void zero(Matrix<U> matrix) const {
    for (Index i = 0; i < matrix.rows; ++i) zero(matrix.row(i), matrix.cols);
  }

  /// work(task, thread) for each task in [0, tasks), spread over the threads. A task must write only what is its own.
  template <class Work>
  void parallel(Index tasks, const Work& work) {
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads()) schedule(dynamic) if (tasks > 1 && threads() > 1)
    for (Index task = 0; task < tasks; ++task) work(task, omp_get_thread_num());
    level_workspaces();
#else
    for (Index task = 0; task < tasks; ++task) work(task, 0);
#endif
  }

  /// work(first, last, thread) for consecutive ranges that cover [0, count), cut at multiples of `grain`.
  template <class Work>
  void parallel_ranges(Index count, Index grain, const Work& work) {
    const Index blocks = (count + grain - 1) / grain, ranges = std::clamp<Index>(blocks, 1, threads());
    parallel(ranges, [&](Index i, int thread) {
      work(blocks * i / ranges * grain, std::min(count, blocks * (i + 1) / ranges * grain), thread);
    });
  }

  /// Scratch memory of one thread, at least `count` values; contents are lost at the thread's next call with the same
  /// slot.
  T* workspace(int thread, Index count, int slot = 0) {
    auto& place = workspaces_[static_cast<std::size_t>(thread)].slots[slot];
    if (place.size() < count) place = Buffer<T, Memory>(count + count / 4);
    return place.data();
  }

  /// Scratch memory for what the tasks of a parallel loop find and the caller reads afterwards; lost at the next call.
  T* results(Index count) {
    if (results_.size() < count) results_ = Buffer<T, Memory>(count + count / 4);
    return results_.data();
  }

  /// Bytes of scratch memory that it holds, and bytes of memory that the machine has.
  Index scratch() const {
    Index numbers = results_.size();
    for (const Workspace& one : workspaces_)
      for (const auto& slot : one.slots) numbers += slot.size();
    return numbers * Index{sizeof(T)};
  }
  Index memory() const { return Index{::sysconf(_SC_PHYS_PAGES)} * Index{::sysconf(_SC_PAGE_SIZE)}; }

 private:
  struct Workspace {
    Buffer<T, Memory> slots[2];
  };

  /// Which thread gets which task is chance. What one needed another will need, so all get it now, not in some later step.
  void level_workspaces() {
    for (std::size_t slot = 0; slot < std::size(workspaces_[0].slots); ++slot) {
      Index most = 0;
      for (const Workspace& one : workspaces_) most = std::max<Index>(most, one.slots[slot].size());
      for (Workspace& one : workspaces_)
        if (one.slots[slot].size() < most) one.slots[slot] = Buffer<T, Memory>(most);
    }
  }

  static int all_cores() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
  }
  template <class U>
  static void copy(U* to, const U* from, Index count) {
    if (count > 0) std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(U));
  }

  CpuOptions options_;
  std::shared_ptr<cpu::PackedWeights<T>> weights_ = std::make_shared<cpu::PackedWeights<T>>();
  std::vector<Workspace> workspaces_;
  Buffer<T, Memory> results_;
};

}  // namespace attn
