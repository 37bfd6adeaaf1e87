// mpirun -n N failing_rank HOW: the last rank fails, and the others must say so and end. Each says its process id.
// Ways for ranks that met in a folder: `killed` and `stopped` while the others do not wait on the host, as in a sum by NCCL.
// `stuck`: the last rank hangs in a step, and the others run ahead of the GPU. `leaves` is no failure.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <thread>

#include "attn/parallel/communicator.hpp"
#include "attn/parallel/join_ranks.hpp"

using namespace attn;

namespace {

void sleep(int seconds) { std::this_thread::sleep_for(std::chrono::seconds(seconds)); }

}  // namespace

int main(int, char** words) {
  const std::string how = words[1];
  const auto ranks = join_ranks(how == "hangs" || how == "dies" ? 2 : 12, 1);
  std::cout << "process " + std::to_string(::getpid()) + "\n" << std::flush;
  const bool last = ranks->rank() == ranks->ranks() - 1;
  try {
    ranks->barrier();
    if (how == "hangs" && last) ::pause();
    if (how == "dies" && last) ::raise(SIGKILL);
    if (how == "killed" && last) ::raise(SIGKILL);
    if (how == "stopped" && last) ::raise(SIGSTOP);
    if (how == "leaves" && last) return 0;
    if (how == "killed" || how == "stopped") sleep(30);
    if (how == "leaves") return sleep(5), 0;
    for (int step = 0; how == "stuck" && step < 10; ++step) {
      ranks->begin_batch();
      if (step == (last ? 5 : 6)) sleep(30);
      ranks->check_ranks();
      ranks->end_step();
    }
    if (how == "throws" && last) fail("cannot read /nowhere/text.en");
    if (how == "differs") require_same_everywhere(*ranks, {{"version", last ? "0.1.0" : "0.2.0"}});
    ranks->barrier();
    std::cout << "nobody noticed\n";
    return 0;
  } catch (const std::exception& error) {
    return ranks->stop_all(1, error.what());
  }
}
