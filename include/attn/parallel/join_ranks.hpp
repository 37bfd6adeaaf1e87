#pragma once
#include <cstdlib>
#include <memory>
#include <string>

#include "attn/core/error.hpp"
#include "attn/parallel/communicator.hpp"
#include "attn/parallel/file_ranks.hpp"
#ifdef ATTN_MPI
#include "attn/parallel/mpi.hpp"
#endif

namespace attn {

/// The processes that this one was started with: by mpirun or srun, or none. Where ATTN_HANDSHAKE names a folder, those that meet
/// there: ATTN_RANK of ATTN_RANKS, or as Slurm numbers them. `patience`: see Mpi.
inline std::unique_ptr<Communicator> join_ranks([[maybe_unused]] double patience = 600) {
  if (const char* folder = std::getenv("ATTN_HANDSHAKE")) {
    const auto number = [](const char* name, const char* of_slurm) {
      const char* text = std::getenv(name);
      if (text == nullptr) text = std::getenv(of_slurm);
      require(text != nullptr, "ATTN_HANDSHAKE is set, and neither ", name, " nor ", of_slurm, " says which rank this is");
      return static_cast<Index>(std::atoll(text));
    };
    return std::make_unique<FileRanks>(folder, number("ATTN_RANK", "SLURM_PROCID"), number("ATTN_RANKS", "SLURM_NTASKS"),
                                       patience);
  }
  const char* found = nullptr;  // what Open MPI, MPICH and Slurm tell the processes that they start
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (found == nullptr) found = std::getenv(name);
  if (found == nullptr) return std::make_unique<Communicator>();
#ifdef ATTN_MPI
  return std::make_unique<Mpi>(nullptr, nullptr, patience);
#else
  require(std::string(found) == "1" || std::string(found) == "0",
          "this program was built without MPI, so that several processes of it would each train alone: build it with "
          "-DATTN_MPI=ON, or start one process");
  return std::make_unique<Communicator>();
#endif
}

}  // namespace attn
