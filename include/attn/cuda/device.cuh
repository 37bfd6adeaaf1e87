#pragma once
#include "attn/core/position_tables.hpp"
#include "attn/core/step_graph.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/cuda/choose_gpu.cuh"
#include "attn/cuda/matmul/plans.cuh"
#include "attn/cuda/support/memory.cuh"
#ifdef __CUDACC__
#include "attn/cuda/support/launch.cuh"
#include "attn/cuda/support/vector_types.cuh"
#endif

namespace attn {

struct CudaOptions {
  int gpu = 0;        // CUDA device index
  bool tf32 = false;  // Cuda<float>: round the operands of matrix products, also in attention, to TF32, for tensor cores
};

/// An op that waits because the next op may fuse it: a product in a decoder fuses the layer norm of its input. Otherwise the
/// device runs it before anything else reaches the stream, so the delay is not observable.
class DeferredOp {
 public:
  template <class Device, class Args>
  void set(Device& device, const Args& args, void (*run)(Device&, const Args&)) {
    static_assert(std::is_trivially_copyable_v<Args> && sizeof(Args) <= sizeof(args_));
    std::memcpy(args_, &args, sizeof(Args));
    device_ = &device;
    call_ = reinterpret_cast<void (*)()>(run);
    run_ = [](const DeferredOp& op) {
      Args arguments;
      std::memcpy(&arguments, op.args_, sizeof(Args));
      reinterpret_cast<void (*)(Device&, const Args&)>(op.call_)(*static_cast<Device*>(op.device_), arguments);
    };
  }

  /// The arguments of the deferred op if `run` runs it, else null. The op stays deferred.
  template <class Device, class Args>
  const Args* arguments_of(void (*run)(Device&, const Args&)) const {
    return run_ != nullptr && call_ == reinterpret_cast<void (*)()>(run) ? reinterpret_cast<const Args*>(args_) : nullptr;
  }

  void run() {
    if (run_ == nullptr) return;
    const DeferredOp op = *this;
    forget();
    op.run_(op);
  }
  void forget() { run_ = nullptr; }

 private:
  alignas(std::max_align_t) std::byte args_[256] = {};
  void* device_ = nullptr;
  void (*call_)() = nullptr;
  void (*run_)(const DeferredOp&) = nullptr;
};

/// A GPU device. Cuda<bfloat16> computes with bfloat16 activations and weights and keeps sums, statistics, parameter
/// gradients, master weights and optimiser state in float; Cuda<float> uses float throughout. All work goes to one stream:
/// the host runs ahead and waits only for downloads. Results are bitwise reproducible. A process may have several devices,
/// on one GPU or on several. Any thread may use a device, but only one thread at a time.
template <class T>
requires(sizeof(T) > 0) class Cuda<T> {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, bfloat16>, "attn: Cuda computes in float or in bfloat16");

 public:
  using Scalar = T;                                        // activations and the weights that models compute with
  using Real = float;                                      // statistics, gradients of parameters, optimiser state
  using Memory = CudaMemory;                               // allocates them
  static constexpr Index logits_at_once = Index{1} << 28;  // large products, but a small fraction of GPU memory
  static constexpr Index ragged_block = 64;                // rows of an attention block: see Ragged

  explicit Cuda(CudaOptions options = {})
      : activations("activations", Memory{options.gpu}),
        gradients("gradients of activations", Memory{options.gpu}),
        plans(Memory{options.gpu}),
        options_(options) {
    *properties_ = choose_gpu(options.gpu);
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    check_cuda(cublasLtCreate(&cublas_), "starting cuBLASLt");
    kernels_ = find_kernels(*properties_);
  }
  Cuda(const Cuda&) = delete;
  Cuda& operator=(const Cuda&) = delete;
  ~Cuda() {
    (void)use_gpu(options_.gpu);
    (void)cudaStreamSynchronize(stream_);
    (void)cublasLtDestroy(cublas_);
    (void)cudaStreamDestroy(stream_);
  }

  Arena<Memory> activations;                          // rewound by each tape
  Pool<Memory> gradients;                             // in the backward pass
  Arena<HostMemory> tape_nodes{"the tape's record"};  // what the tape recorded
  std::uint64_t tapes_begun = 0;
  PositionTables<Cuda> positions;

  const CudaOptions& options() const { return options_; }
  // Decoding: concurrent streams keep the GPU busy when one has only few sentences left. Memory bounds the rows: the caches
  // of a base Transformer take 3 MiB per row.
  static std::unique_ptr<Cuda> like(const Cuda& other) {
    auto device = std::make_unique<Cuda>(other.options_);
    device->plans.share(other.plans);
    return device;
  }
  Index workers(Index batches) const { return std::min<Index>(batches, 4); }
  Index decoding_batch(Index hypotheses) const {
    return std::clamp<Index>(memory() / (Index{40} << 20), 64, 1024) / hypotheses;
  }
  Index text_threads() const { return all_threads(); }
  /// Makes this GPU current for the calling thread. Everything that accesses the GPU calls this first.
  void use() const { check_cuda(use_gpu(options_.gpu), "choosing the GPU"); }
  /// The stream of all work. The caller is about to enqueue work, so a deferred op runs first.
  cudaStream_t stream() const {
    use();
    deferred_op_.run();
    return stream_;
  }
  /// Defers an op until the next one is known; it runs before anything else reaches the stream.
  template <class Args>
  void defer(const Args& args, void (*run)(Cuda&, const Args&)) {
    deferred_op_.run();
    deferred_op_.set(*this, args, run);
  }
  /// The arguments of the deferred op if `run` runs it, else null. To fuse it, then call drop_deferred().
  template <class Args>
  const Args* deferred(void (*run)(Cuda&, const Args&)) const {
    return deferred_op_.arguments_of(run);
  }
  void drop_deferred() { deferred_op_.forget(); }
  /// Runs the deferred op before memory that it uses is freed. If the GPU is lost, the next call that waits reports it.
  void finish_deferred() noexcept {
    try {
      deferred_op_.run();
    } catch (const Error&) {
    }
  }
  cublasLtHandle_t cublas() const { return cublas_; }
  const cudaDeviceProp& properties() const { return *properties_; }
  int multiprocessors() const { return properties_->multiProcessorCount; }
  /// Whether this program has wgmma kernels for this GPU, and whether its kernels may form clusters and overlap.
  bool has_wgmma() const { return kernels_.wgmma; }
  bool has_clusters() const { return kernels_.clusters; }
  std::string description() const { return properties_->name; }
  std::string pci_bus_id() const {
    char id[32] = {};
    check_cuda(cudaDeviceGetPCIBusId(id, sizeof id, options_.gpu), "querying the PCI address of the GPU");
    return id;
  }
  Plans plans;  // of matrix products

  bool repeats_step = false;  // set by core/step_graph.hpp: uploads are refused
  template <class U>
  void upload(U* to, const U* from, Index count) {
    check_upload_allowed(repeats_step);
    staging_.upload(stream(), to, from, static_cast<std::size_t>(count) * sizeof(U));
  }
  /// Waits for all work so far.
  template <class U>
  void download(U* to, const U* from, Index count) const {
    if (count == 0) return;
    check_cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(U), cudaMemcpyDeviceToHost, stream()),
               "download");
    synchronize();
  }
  template <class U>
  void zero(U* data, Index count) const {
    if (count > 0) check_cuda(cudaMemsetAsync(data, 0, static_cast<std::size_t>(count) * sizeof(U), stream()), "zero");
  }
  template <class U>
  void zero(Matrix<U> matrix) const {
    if (matrix.rows == 0 || matrix.cols == 0) return;
    if (matrix.stride == matrix.cols) return zero(matrix.data, matrix.rows * matrix.cols);
    const auto size = [](Index count) { return static_cast<std::size_t>(count) * sizeof(U); };
    check_cuda(cudaMemset2DAsync(matrix.data, size(matrix.stride), 0, size(matrix.cols),
                                 static_cast<std::size_t>(matrix.rows), stream()),
               "zero");
  }
  void synchronize() const { check_cuda(cudaStreamSynchronize(stream()), "waiting for the GPU"); }

  /// Scratch memory of one op. Kernels on the stream run in order, so all ops share it. The next call invalidates it.
  template <class U>
  U* workspace(Index count) {
    const auto bytes = static_cast<Index>(align_up(static_cast<std::size_t>(count) * sizeof(U)));
    if (workspace_.size() < bytes) {
      workspace_ = {};
      workspace_ = Buffer<std::byte, Memory>(*this, bytes + bytes / 4, "a kernel's scratch");
    }
    return reinterpret_cast<U*>(workspace_.data());
  }

  /// Pinned host integers that kernels write to. They belong to the last caller.
  std::int32_t* pinned(Index count) {
    use();
    if (pinned_.size() < count) {
      pinned_ = {};
      pinned_ = Buffer<std::int32_t, PinnedMemory>(count, "pinned memory for counts");
    }
    return pinned_.data();
  }

  /// Counters for blocks that detect which of them is last. All are 0; a kernel resets those that it uses.
  unsigned* tickets(Index count) {
    if (tickets_.size() < count) {
      tickets_ = {};
      tickets_ = Buffer<unsigned, Memory>(*this, std::max<Index>(count, 4096), "counters");
      zero(tickets_.data(), tickets_.size());
    }
    return tickets_.data();
  }

  /// Bytes of scratch memory that the device holds, and bytes of memory of the GPU.
  Index scratch() const { return workspace_.size() + static_cast<Index>(plans.capacity()); }
  Index memory() const { return static_cast<Index>(properties_->totalGlobalMem); }
  /// Bytes of GPU memory that this device holds, without parameters and optimiser state.
  std::size_t reserved() const {
    return activations.capacity() + gradients.capacity() + static_cast<std::size_t>(scratch());
  }

 private:
  CudaOptions options_;
  std::unique_ptr<cudaDeviceProp> properties_ = std::make_unique<cudaDeviceProp>();
  cudaStream_t stream_ = nullptr;
  cublasLtHandle_t cublas_ = nullptr;
  KernelChoice kernels_;
  mutable DeferredOp deferred_op_;
  Staging staging_;
  Buffer<std::int32_t, PinnedMemory> pinned_;
  Buffer<std::byte, Memory> workspace_;
  Buffer<unsigned, Memory> tickets_;
};

}  // namespace attn
