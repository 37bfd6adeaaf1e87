#include "attn/train/terminal.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace attn;

TEST_CASE("terminal: shows progress with the loss and a line for each validation") {
  std::ostringstream out;
  TerminalCallback terminal(out, false, 100);
  terminal.on_step({.step = 10, .loss = 2.5, .tokens = 1000});
  terminal.on_validation({.step = 10, .loss = 1, .best = true});
  terminal.on_validation({.step = 20, .loss = 2});
  terminal.on_validation({.step = 30, .loss = 2, .likelihood = false});
  terminal.on_end();
  CHECK(out.str().find("step 30: validation loss 2.000\n") != std::string::npos);
  CHECK(out.str().find(" 10 %  10/100  loss 2.500  ") != std::string::npos);
  CHECK(out.str().find("step 10: validation loss 1.000, perplexity 2.72, the best so far\n") != std::string::npos);
  CHECK(out.str().find("step 20: validation loss 2.000, perplexity 7.39\n") != std::string::npos);
}
