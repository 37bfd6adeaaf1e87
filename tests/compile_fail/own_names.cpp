// refused: reference to 'Adam' is ambiguous
// After `using namespace attn`, a program can still have these names of its own.
#include "attn/attn.hpp"
#include "attn/cpu.hpp"

using namespace attn;

struct Score {
  double value = 0;
};
struct Dot {};
struct Range {};
struct Steps {};
struct Constant {};
struct States {
  Score score;
  Dot dot;
  Constant constant;
  Range range;
  Steps steps;
};
bool check(const States& states) { return states.score.value > 0; }
bool check(const SearchOptions&, Index) { return false; }
bool check(const TrainOptions&) { return false; }
double search(const States& states) { return check(states) ? states.score.value : 0; }

bool all() { return search(States{}) > 0 || check(SearchOptions{}, 1) || check(TrainOptions{}); }

#ifdef ATTN_REFUSED
struct Adam {};
Adam adam;
#endif
