// mpirun -n N failing_rank HOW: the last rank fails, and the others must say so and end.
#include <signal.h>
#include <unistd.h>

#include <exception>
#include <iostream>
#include <string>

#include "attn/parallel/join_ranks.hpp"
#include "attn/parallel/same_everywhere.hpp"

using namespace attn;

int main(int, char** words) {
  const auto ranks = join_ranks(2);
  const std::string how = words[1];
  const bool last = ranks->rank() == ranks->ranks() - 1;
  try {
    ranks->meet();
    if (how == "hangs" && last) ::pause();
    if (how == "dies" && last) ::raise(SIGKILL);
    if (how == "throws" && last) fail("cannot read /nowhere/text.en");
    if (how == "differs") require_same_everywhere(*ranks, {{"version", last ? "0.1.0" : "0.2.0"}});
    ranks->meet();
    std::cout << "nobody noticed\n";
    return 0;
  } catch (const std::exception& error) {
    return ranks->stop_all(1, error.what());
  }
}
