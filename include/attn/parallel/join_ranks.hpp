#pragma once
#include <charconv>

#include "attn/parallel/file_ranks.hpp"

#ifdef ATTN_MPI
#include "attn/parallel/mpi.hpp"
#endif
#ifdef ATTN_NCCL
#include "attn/parallel/nccl.hpp"
#endif

namespace attn {

/// Joins the processes started together: by mpirun or srun, or through the folder ATTN_HANDSHAKE as rank ATTN_RANK of
/// ATTN_RANKS (default: Slurm's variables). Otherwise a single process. `patience`, `silence`: see FileRanks; the variable
/// ATTN_HEARTBEAT_TIMEOUT replaces `silence`. Mpi uses `patience` only.
inline std::unique_ptr<Communicator> join_ranks([[maybe_unused]] double patience = 600, double silence = 45) {
  if (const char* folder = std::getenv("ATTN_HANDSHAKE")) {
    const auto number = [](const char* name, const char* of_slurm) {
      const char* found = std::getenv(name);
      if (found == nullptr) found = std::getenv(of_slurm);
      require(found != nullptr, "ATTN_HANDSHAKE is set, but neither ", name, " nor ", of_slurm, ". Set ", name, ".");
      const std::string text = found;
      Index number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      require(!text.empty() && error == std::errc{} && end == text.data() + text.size(), name, " (or ", of_slurm, ") is '",
              text, "', not a whole number");
      return number;
    };
    constexpr const char* kTimeout = "ATTN_HEARTBEAT_TIMEOUT";
    if (std::getenv(kTimeout) != nullptr) {
      silence = static_cast<double>(number(kTimeout, kTimeout));
      require(silence > 0, kTimeout, " is ", silence, ": give the seconds after which a silent rank counts as dead");
    }
    return std::make_unique<FileRanks>(folder, number("ATTN_RANK", "SLURM_PROCID"), number("ATTN_RANKS", "SLURM_NTASKS"),
                                       patience, silence);
  }
  require(std::getenv("ATTN_RANKS") == nullptr && std::getenv("ATTN_RANK") == nullptr,
          "ATTN_RANK or ATTN_RANKS is set, but not ATTN_HANDSHAKE: each rank would train alone. Set it to a folder that "
          "all ranks share.");
  const char* found = nullptr;  // set by Open MPI, MPICH and Slurm
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (found == nullptr) found = std::getenv(name);
  if (found == nullptr) return std::make_unique<Communicator>();
#ifdef ATTN_MPI
  return std::make_unique<Mpi>(nullptr, nullptr, patience);
#else
  require(std::string(found) == "1" || std::string(found) == "0",
          "this program was built without MPI: several processes would each train alone. Build it with -DATTN_MPI=ON, or "
          "start one process.");
  return std::make_unique<Communicator>();
#endif
}

/// The same ranks with GPU sums over NCCL. Null, i.e. sums through the host, without NCCL, with a shared GPU or with one
/// rank. `required`: use NCCL or throw Error, also for one rank.
inline std::unique_ptr<Communicator> join_gpus([[maybe_unused]] Communicator& host, [[maybe_unused]] int gpu,
                                               bool required = false) {
#ifdef ATTN_NCCL
  if (required || (host.ranks() > 1 && Nccl::shared_gpu(host, gpu).empty())) return std::make_unique<Nccl>(host, gpu);
#else
  require(!required,
          "this program was built without NCCL. Build it with -DATTN_NCCL=ON, or add up gradients through the host.");
#endif
  return nullptr;
}

}  // namespace attn
