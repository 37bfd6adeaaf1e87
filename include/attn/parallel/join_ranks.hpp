#pragma once
#include <charconv>
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
      const char* found = std::getenv(name);
      if (found == nullptr) found = std::getenv(of_slurm);
      require(found != nullptr, "ATTN_HANDSHAKE is set, and neither ", name, " nor ", of_slurm, " says which rank this is");
      const std::string text = found;
      Index number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      require(!text.empty() && error == std::errc{} && end == text.data() + text.size(), name, " (or ", of_slurm, ") is '",
              text, "', which is no whole number");
      return number;
    };
    return std::make_unique<FileRanks>(folder, number("ATTN_RANK", "SLURM_PROCID"), number("ATTN_RANKS", "SLURM_NTASKS"),
                                       patience);
  }
  require(
      std::getenv("ATTN_RANKS") == nullptr && std::getenv("ATTN_RANK") == nullptr,
      "ATTN_RANK or ATTN_RANKS is set, and ATTN_HANDSHAKE names no folder in which the ranks meet: each would train alone");
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
