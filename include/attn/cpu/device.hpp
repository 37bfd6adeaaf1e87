#pragma once
#include <unistd.h>

#include <tuple>
#include <typeindex>

#include "attn/core/format_count.hpp"
#include "attn/core/position_tables.hpp"
#include "attn/core/step_graph.hpp"
#include "attn/core/thread_pool.hpp"

namespace attn::cpu {

/// Copying this number of values takes longer than waking the other threads; worthwhile_rows is the same in rows.
inline constexpr Index kWorthwhile = 1 << 14;
inline Index worthwhile_rows(Index cols) { return std::max<Index>(1, kWorthwhile / std::max<Index>(1, cols)); }

/// Packed copies of constant weights (of inference models), in the order and precision that products read. Packs at first
/// use. Thread-safe, because devices that run one model share it.
template <class T>
class PackedWeights {
 public:
  /// Declares these numbers constant. Drops packed copies of earlier contents.
  void cache(const T* values, Index count) {
    const std::lock_guard lock(mutex_);
    forget_range(values, count);
    if (count > 0) cached_[values] = count;
  }

  /// Allows these numbers to change or to be freed.
  void forget(const T* values, Index count) {
    const std::lock_guard lock(mutex_);
    forget_range(values, count);
  }

  /// Packed(weights), made at the first call; null if the weights are not cached.
  template <class Packed>
  const Packed* find(Matrix<const T> weights) {
    const std::lock_guard lock(mutex_);
    auto range = cached_.upper_bound(weights.data);
    if (range == cached_.begin()) return nullptr;
    --range;
    if (weights.data + weights.rows * weights.cols > range->first + range->second || weights.stride != weights.cols)
      return nullptr;
    std::shared_ptr<const void>& entry = packed_[{weights.data, weights.rows, typeid(Packed)}];
    if (entry == nullptr) entry = std::make_shared<const Packed>(weights);
    return static_cast<const Packed*>(entry.get());
  }

 private:
  void forget_range(const T* values, Index count) {
    cached_.erase(values);
    const auto first = [&](const T* at) { return packed_.lower_bound({at, -1, typeid(void)}); };
    packed_.erase(first(values), first(values + count));
  }

  std::mutex mutex_;
  std::map<const T*, Index> cached_;  // begin and length of ranges
  std::map<std::tuple<const T*, Index, std::type_index>, std::shared_ptr<const void>>
      packed_;  // by first value, rows, type
};

}  // namespace attn::cpu

namespace attn {

struct CpuOptions {
  int threads = 0;                 // 0: one per core
  bool bfloat16_products = false;  // Cpu<float>: round the operands of matrix products to bfloat16; sums stay float
  bool int8_weights = false;       // Cpu<float>: round weights of inference models and their inputs to int8
};

/// Whether the compiler may use instructions for bf16 matrix products (ARM's BF16, AVX512-BF16, AMX): Bfloat16Tile exists.
#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC) || defined(__AVX512BF16__)
#define ATTN_BFLOAT16_PRODUCTS 1
inline constexpr bool kHasBfloat16Products = true;
#else
inline constexpr bool kHasBfloat16Products = false;
#endif

/// The host CPU as a device: computes in T on its cores. T is float, or double, the reference for all tests.
/// Results do not depend on the number of threads.
template <class T>
requires(sizeof(T) > 0) class Cpu<T> {
 public:
  using Scalar = T;  // activations and the weights that models compute with
  using Real = T;    // statistics, gradients of parameters, optimiser state
  using Memory = HostMemory;
  static constexpr Index logits_at_once = Index{1} << 22;  // chunks stay in the caches
  static constexpr Index ragged_block = 0;                 // no block lists: see Ragged

  explicit Cpu(CpuOptions options) : options_(options) {
    if (options_.threads <= 0) options_.threads = static_cast<int>(all_threads());
    require(!options.bfloat16_products || std::is_same_v<T, float>, "bf16 matrix products need Cpu<float>");
    require(!options.bfloat16_products || kHasBfloat16Products,
            "this program was compiled without instructions for bf16 matrix products (ARM's BF16, AVX512-BF16). Compile "
            "with -march=native on a processor that has them, or compute in float.");
    require(!options.int8_weights || std::is_same_v<T, float>, "int8 weights need Cpu<float>");
    require(!options.int8_weights || !options.bfloat16_products,
            "int8_weights conflicts with bfloat16_products. Set one of them.");
    workspaces_.resize(static_cast<std::size_t>(threads()));
    pool_ = std::make_unique<ThreadPool>(threads());
  }
  explicit Cpu(int threads = 0) : Cpu(CpuOptions{.threads = threads}) {}
  /// A device with one thread, for concurrent use of the same models. It shares the packed weights of `other`.
  static std::unique_ptr<Cpu> like(const Cpu& other) {
    CpuOptions options = other.options_;
    options.threads = 1;
    auto device = std::make_unique<Cpu>(options);
    device->weights_ = other.weights_;
    return device;
  }

  int threads() const { return options_.threads; }
  // Decoding: each worker is one thread, if there are enough batches to keep all busy.
  Index workers(Index batches) const { return batches < 2 * threads() ? 1 : threads(); }
  Index decoding_batch(Index /* hypotheses */) const { return 64; }
  Index text_threads() const { return threads(); }
  const CpuOptions& options() const { return options_; }
  cpu::PackedWeights<T>& weights() const { return *weights_; }  // of inference models
  std::string description() const {
    return counted(threads(), "thread") + (options_.bfloat16_products ? ", bf16 matrix products" : "") +
           (options_.int8_weights ? ", int8 weights" : "");
  }
  Arena<Memory> activations{"activations"};            // rewound by each tape
  Pool<Memory> gradients{"gradients of activations"};  // in the backward pass
  Arena<HostMemory> tape_nodes{"the tape's record"};
  std::uint64_t tapes_begun = 0;
  PositionTables<Cpu> positions;

  bool repeats_step = false;  // inside a repeated step (core/step_graph.hpp), which must not upload
  template <class U>
  void upload(U* to, const U* from, Index count) const {
    check_upload_allowed(repeats_step);
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

  /// work(task, thread) for each task in [0, tasks), distributed over the threads. Tasks must not write the same
  /// memory, and must not call parallel().
  void parallel(Index tasks, const auto& work) {
    pool_->run(tasks, work);
    level_workspaces();
  }

  /// work(first, last, thread) for consecutive ranges that cover [0, count), cut at multiples of `grain`.
  void parallel_ranges(Index count, Index grain, const auto& work) {
    const Index blocks = (count + grain - 1) / grain, ranges = std::clamp<Index>(blocks, 1, threads());
    parallel(ranges, [&](Index i, int thread) {
      work(blocks * i / ranges * grain, std::min(count, blocks * (i + 1) / ranges * grain), thread);
    });
  }
  /// work(i) for each of some rows of this width, on several threads if that is faster.
  void parallel_rows(Index rows, Index cols, const auto& work) {
    parallel_ranges(rows, cpu::worthwhile_rows(cols), [&](Index first, Index last, int) {
      for (Index i = first; i < last; ++i) work(i);
    });
  }

  /// Scratch memory of one thread, at least `count` values. Contents are lost at the thread's next call with the same slot.
  T* workspace(int thread, Index count, int slot = 0) {
    auto& place = workspaces_[static_cast<std::size_t>(thread)][static_cast<std::size_t>(slot)];
    if (place.size() < count) place = Buffer<T, Memory>(count + count / 4);
    return place.data();
  }

  /// Scratch memory for results of the tasks of a parallel loop, which the caller reads afterwards. Lost at the next call.
  T* results(Index count) {
    if (results_.size() < count) results_ = Buffer<T, Memory>(count + count / 4);
    return results_.data();
  }

  /// Bytes of allocated scratch memory, and bytes of memory of the machine.
  Index scratch() const {
    Index numbers = results_.size();
    for (const auto& workspace : workspaces_)
      for (const auto& slot : workspace) numbers += slot.size();
    return numbers * Index{sizeof(T)};
  }
  Index memory() const { return Index{::sysconf(_SC_PHYS_PAGES)} * Index{::sysconf(_SC_PAGE_SIZE)}; }

 private:
  /// Grows the workspaces of all threads to the largest. Tasks are scheduled dynamically, so any thread may need that size
  /// in a later step, which should not allocate.
  void level_workspaces() {
    for (std::size_t slot = 0; slot < 2; ++slot) {
      Index most = 0;
      for (const auto& workspace : workspaces_) most = std::max<Index>(most, workspace[slot].size());
      for (auto& workspace : workspaces_)
        if (workspace[slot].size() < most) workspace[slot] = Buffer<T, Memory>(most);
    }
  }

  template <class U>
  static void copy(U* to, const U* from, Index count) {
    if (count > 0) std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(U));
  }

  CpuOptions options_;
  std::shared_ptr<cpu::PackedWeights<T>> weights_ = std::make_shared<cpu::PackedWeights<T>>();
  std::vector<std::array<Buffer<T, Memory>, 2>> workspaces_;  // of each thread: two slots
  Buffer<T, Memory> results_;
  std::unique_ptr<ThreadPool> pool_;
};

}  // namespace attn
