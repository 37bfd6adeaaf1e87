#pragma once
#include <cstring>
#include <memory>
#include <string>

#include "attn/core/matrix.hpp"
#include "attn/core/memory.hpp"
#include "attn/core/position_tables.hpp"
#include "attn/core/repeated_step.hpp"
#include "attn/cuda/gpus.cuh"
#include "attn/cuda/matmul/plans.cuh"
#include "attn/cuda/support/held_op.cuh"
#include "attn/cuda/support/launch.cuh"
#include "attn/cuda/support/memory.cuh"
#include "attn/cuda/support/pinned.cuh"
#include "attn/cuda/support/staging.cuh"
#include "attn/cuda/support/vector_types.cuh"

namespace attn {

struct CudaOptions {
  int gpu = 0;        // which of the machine's GPUs
  bool tf32 = false;  // Cuda<float>: round the operands of matrix products to TF32, whose products run on tensor cores
};

/// A GPU as a device. Cuda<bfloat16> computes with bfloat16 activations and weights, and keeps sums, statistics, gradients
/// of parameters, master weights and optimiser state in float; Cuda<float> has float throughout. All work goes to one
/// stream: the host runs ahead, and waits only where it downloads. The same input gives the same bits. Several devices, of
/// one GPU or of several, may live in one process and be used by any thread, one thread at a time each.
template <class T>
class Cuda {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, bfloat16>, "attn: Cuda computes in float or in bfloat16");

 public:
  using Scalar = T;                                        // activations and the weights that models compute with
  using Real = float;                                      // statistics, gradients of parameters, optimiser state
  using Memory = CudaMemory;                               // where they live
  static constexpr Index logits_at_once = Index{1} << 28;  // large products, and still a small fraction of a GPU's memory
  static constexpr Index ragged_block = 64;                // rows that attention takes at once: see Ragged

  explicit Cuda(CudaOptions options = {});
  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;
  ~Cuda();

  Arena<Memory> activations;                          // rewound by each tape
  Pool<Memory> gradients;                             // in the backward pass
  Arena<HostMemory> tape_nodes{"the tape's record"};  // what the tape recorded
  std::uint64_t tapes_begun = 0;
  PositionTables<Cuda> positions;

  const CudaOptions& options() const { return options_; }
  /// Makes its GPU the one that this thread's calls of CUDA are for: all that reaches the GPU begins with it.
  void use() const { check(use_gpu(options_.gpu), "choosing the GPU"); }
  /// Where all its work goes; who asks is about to put some there.
  cudaStream_t stream() const {
    use();
    held_op_.run();
    return stream_;
  }
  /// Keeps an op back until the next one is known; it runs before anything else reaches the stream.
  template <class Args>
  void hold_back(const Args& args, void (*run)(Cuda&, const Args&)) {
    held_op_.run();
    held_op_.hold(*this, args, run);
  }
  /// The arguments of the op that is kept back, if that is what runs it. Who takes them does its work, and forgets it.
  template <class Args>
  const Args* held_back(void (*run)(Cuda&, const Args&)) const {
    return held_op_.arguments_of(run);
  }
  void forget_held_back() { held_op_.forget(); }
  /// Runs it: memory that it reads or writes is about to go. Where the GPU is lost, whoever waits for it next is told.
  void finish_held_back() noexcept {
    try {
      held_op_.run();
    } catch (const Error&) {
    }
  }
  cublasLtHandle_t cublas() const { return cublas_; }
  const cudaDeviceProp& properties() const { return *properties_; }
  int multiprocessors() const { return properties_->multiProcessorCount; }
  /// Whether the kernels written with Hopper's matrix instructions were compiled for this GPU.
  bool has_wgmma() const { return has_wgmma_; }
  std::string description() const { return properties_->name; }
  Plans plans;  // of matrix products

  bool repeats_step = false;  // as decode/step_graph.hpp does: it may not upload
  template <class U>
  void upload(U* to, const U* from, Index count) {
    refuse_in_repeated_step(repeats_step);
    staging_.upload(stream(), to, from, static_cast<std::size_t>(count) * sizeof(U));
  }
  /// Waits for all work so far.
  template <class U>
  void download(U* to, const U* from, Index count) const {
    if (count == 0) return;
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(U), cudaMemcpyDeviceToHost, stream()),
          "download");
    synchronize();
  }
  template <class U>
  void zero(U* data, Index count) const {
    if (count > 0) check(cudaMemsetAsync(data, 0, static_cast<std::size_t>(count) * sizeof(U), stream()), "zero");
  }
  template <class U>
  void zero(Matrix<U> matrix) const {
    if (matrix.rows == 0 || matrix.cols == 0) return;
    const auto size = [](Index count) { return static_cast<std::size_t>(count) * sizeof(U); };
    check(cudaMemset2DAsync(matrix.data, size(matrix.stride), 0, size(matrix.cols), static_cast<std::size_t>(matrix.rows),
                            stream()),
          "zero");
  }
  void synchronize() const { check(cudaStreamSynchronize(stream()), "waiting for the GPU"); }

  /// Scratch memory of one op: kernels on the stream take turns, so all share it. Lost at the next call.
  template <class U>
  U* workspace(Index count) {
    const auto bytes = static_cast<Index>(align_up(static_cast<std::size_t>(count) * sizeof(U)));
    if (workspace_.size() < bytes) {
      workspace_ = {};
      workspace_ = Buffer<std::byte, Memory>(*this, bytes + bytes / 4, "a kernel's scratch");
    }
    return reinterpret_cast<U*>(workspace_.data());
  }

  /// Numbers of the host that kernels write to, for whoever asked last.
  std::int32_t* pinned(Index count) {
    use();
    return pinned_.numbers(count);
  }

  /// Counters for blocks that must know who is last. All are 0; a kernel puts back the 0 it found.
  unsigned* tickets(Index count) {
    if (tickets_.size() < count) {
      tickets_ = {};
      tickets_ = Buffer<unsigned, Memory>(*this, std::max<Index>(count, 4096), "counters");
      zero(tickets_.data(), tickets_.size());
    }
    return tickets_.data();
  }

  /// Bytes of scratch memory that it holds, and bytes of memory that the GPU has.
  Index scratch() const { return workspace_.size() + static_cast<Index>(plans.capacity()); }
  Index memory() const { return static_cast<Index>(properties_->totalGlobalMem); }
  /// Bytes of GPU memory that this device holds, beside parameters and optimiser state.
  std::size_t held() const { return activations.capacity() + gradients.capacity() + static_cast<std::size_t>(scratch()); }

 private:
  CudaOptions options_;
  std::unique_ptr<cudaDeviceProp> properties_ = std::make_unique<cudaDeviceProp>();
  cudaStream_t stream_ = nullptr;
  cublasLtHandle_t cublas_ = nullptr;
  bool has_wgmma_ = false;
  mutable HeldOp held_op_;
  Staging staging_;
  Pinned pinned_;
  Buffer<std::byte, Memory> workspace_;
  Buffer<unsigned, Memory> tickets_;
};

template <class T>
Cuda<T>::Cuda(CudaOptions options)
    : activations("activations", Memory{options.gpu}),
      gradients("gradients of activations", Memory{options.gpu}),
      plans(Memory{options.gpu}),
      options_(options) {
  *properties_ = choose_gpu(options.gpu);
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  check(cublasLtCreate(&cublas_), "starting cuBLASLt");
  int found = 0;
  int* place = workspace<int>(1);
  launch(*this, "the first kernel", {{1}, 1}, kernels::find_wgmma, place);
  download(&found, place, 1);
  has_wgmma_ = found == 1;
}

template <class T>
Cuda<T>::~Cuda() {
  (void)use_gpu(options_.gpu);
  (void)cudaStreamSynchronize(stream_);
  (void)cublasLtDestroy(cublas_);
  (void)cudaStreamDestroy(stream_);
}

}  // namespace attn
