#pragma once
#include <tuple>

#include "attn/cuda/support/launch.cuh"

// Thread block clusters (Hopper): blocks that run concurrently on neighbouring multiprocessors and can synchronise.

namespace attn {
namespace kernels {

// sync_cluster(): a barrier for all threads of the cluster. Writes to global memory before it are visible after it to loads
//     that bypass L1.
// cluster_blocks(), cluster_rank(): the number of blocks in the cluster, and the rank of this block.
// of_rank(shared, rank): the same address in the shared memory of another block of the cluster.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ inline void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n" ::: "memory");
}
__device__ inline int cluster_blocks() {
  int count;
  asm("mov.u32 %0, %%cluster_nctarank;\n" : "=r"(count));
  return count;
}
__device__ inline int cluster_rank() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;\n" : "=r"(rank));
  return rank;
}
template <class T>
__device__ const T* of_rank(const T* shared, int rank) {
  std::uint64_t place;
  asm("mapa.u64 %0, %1, %2;\n" : "=l"(place) : "l"(shared), "r"(rank));
  return reinterpret_cast<const T*>(place);
}
#else  // without clusters
__device__ inline void sync_cluster() { __syncthreads(); }
__device__ inline int cluster_blocks() { return 1; }
__device__ inline int cluster_rank() { return 0; }
template <class T>
__device__ const T* of_rank(const T* shared, int) {
  return shared;
}
#endif

}  // namespace kernels

inline constexpr unsigned kClusterEverywhere = 8;  // blocks per cluster that every GPU with clusters supports

inline cudaLaunchAttribute cluster_attribute(dim3 cluster) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster.x, cluster.y, 1};
  return attribute;
}

/// Allows a kernel to use clusters of any size that the GPU supports.
template <class... Parameters>
void allow_clusters(const char* what, void (*kernel)(Parameters...)) {
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), what);
}

/// The number of clusters of `blocks` blocks that run concurrently. The driver query is slow, so results are cached.
template <class Device, class... Parameters>
int clusters_at_once(const Device& device, const char* what, Spread spread, unsigned blocks,
                     void (*kernel)(Parameters...)) {
  thread_local std::map<std::tuple<const void*, unsigned, std::size_t, int>, int> known;
  device.use();
  const int gpu = device.options().gpu;
  const auto [place, is_new] = known.try_emplace({reinterpret_cast<const void*>(kernel), blocks, spread.shared, gpu}, 0);
  if (!is_new) return place->second;
  allow_clusters(what, kernel);
  allow_shared(what, reinterpret_cast<const void*>(kernel), spread.shared);
  cudaLaunchAttribute attribute = cluster_attribute(dim3(blocks));
  const cudaLaunchConfig_t configuration = launch_configuration(spread, nullptr, attribute);
  if (cudaOccupancyMaxActiveClusters(&place->second, kernel, &configuration) != cudaSuccess) {
    (void)cudaGetLastError();  // unsupported cluster size
    place->second = 0;
  }
  return place->second;
}

/// launch() with clusters of this size along x and y.
template <class Device, class... Parameters, class... Arguments>
void launch_in_clusters(Device& device, const char* what, Spread spread, dim3 cluster, void (*kernel)(Parameters...),
                        const Arguments&... arguments) {
  if (cluster.x * cluster.y <= 1) return launch(device, what, spread, kernel, arguments...);
  device.use();
  if (cluster.x * cluster.y > kClusterEverywhere) allow_clusters(what, kernel);
  launch_with(cluster_attribute(cluster), device, what, spread, kernel, arguments...);
}

}  // namespace attn
