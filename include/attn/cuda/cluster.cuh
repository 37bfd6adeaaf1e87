#pragma once
#include <map>
#include <tuple>

#include "attn/cuda/launch.cuh"

// Clusters: blocks that run at the same time on neighbouring multiprocessors (Hopper) and can wait for each other.

namespace attn {
namespace kernels {

/// All threads of a cluster's blocks. What each wrote to global memory before it, all may read behind it, past the nearest cache.
__device__ inline void meet_cluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n" ::: "memory");
#else
  __syncthreads();  // a block alone
#endif
}

}  // namespace kernels

inline cudaLaunchConfig_t cluster_configuration(Spread spread, unsigned blocks, cudaStream_t stream,
                                                cudaLaunchAttribute& attribute) {
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = blocks;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = spread.blocks;
  configuration.blockDim = dim3(spread.threads);
  configuration.dynamicSmemBytes = spread.shared;
  configuration.stream = stream;
  configuration.attrs = &attribute;
  configuration.numAttrs = 1;
  return configuration;
}

/// Lets a kernel use so much shared memory, in clusters of any size that the GPU has.
template <class... Parameters>
void allow_clusters(const char* what, Spread spread, void (*kernel)(Parameters...)) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), what);
  allow_shared(what, reinterpret_cast<const void*>(kernel), spread.shared);
}

/// How many clusters of so many blocks the GPU runs at the same time. The driver takes long to say so, and is asked once.
template <class... Parameters>
int clusters_at_once(const char* what, Spread spread, unsigned blocks, void (*kernel)(Parameters...)) {
  thread_local std::map<std::tuple<const void*, unsigned, std::size_t, int>, int> known;
  int gpu = 0;
  check(cudaGetDevice(&gpu), what);
  const auto [place, is_new] = known.try_emplace({reinterpret_cast<const void*>(kernel), blocks, spread.shared, gpu}, 0);
  if (!is_new) return place->second;
  allow_clusters(what, spread, kernel);
  cudaLaunchAttribute attribute{};
  const cudaLaunchConfig_t configuration = cluster_configuration(spread, blocks, nullptr, attribute);
  if (cudaOccupancyMaxActiveClusters(&place->second, kernel, &configuration) != cudaSuccess) {
    (void)cudaGetLastError();  // no such clusters
    place->second = 0;
  }
  return place->second;
}

/// launch() in clusters of so many neighbours along x.
template <class Device, class... Parameters, class... Arguments>
void launch_in_clusters(Device& device, const char* what, Spread spread, unsigned blocks, void (*kernel)(Parameters...),
                        const Arguments&... arguments) {
  if (blocks == 1) return launch(device, what, spread, kernel, arguments...);
  if (spread.blocks.x == 0) return;
  allow_clusters(what, spread, kernel);
  cudaLaunchAttribute attribute{};
  const cudaLaunchConfig_t configuration = cluster_configuration(spread, blocks, device.stream(), attribute);
  check(cudaLaunchKernelEx(&configuration, kernel, static_cast<Parameters>(arguments)...), what);
}

}  // namespace attn
