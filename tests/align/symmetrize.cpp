#include "attn/align/symmetrize.hpp"

#include <doctest/doctest.h>

#include "support/errors.hpp"

using namespace attn;
using enum Symmetrization;

namespace {

using Links = std::vector<WordLink>;

// both have 0-0 and 3-3; forward adds 1-1 (a neighbour of 0-0), 5-3 and 6-7; backward adds 3-4 (a neighbour of 3-3), 3-6
const Links forward{{0, 0}, {1, 1}, {3, 3}, {5, 3}, {6, 7}}, backward{{3, 6}, {0, 0}, {3, 3}, {3, 4}, {3, 4}};

}  // namespace

TEST_CASE("symmetrization: intersection and union") {
  CHECK(symmetrize(forward, backward, intersection) == Links{{0, 0}, {3, 3}});
  CHECK(symmetrize(forward, backward, union_of_both) == Links{{0, 0}, {1, 1}, {3, 3}, {3, 4}, {3, 6}, {5, 3}, {6, 7}});
}

TEST_CASE("symmetrization: grows from the intersection") {
  CHECK(symmetrize(forward, backward, grow_diag) == Links{{0, 0}, {1, 1}, {3, 3}, {3, 4}});
  // 5-3: word 5 of the source has no link; 3-6: word 6 of the target has none; 6-7: neither has.
  CHECK(symmetrize(forward, backward, grow_diag_final) == Links{{0, 0}, {1, 1}, {3, 3}, {3, 4}, {3, 6}, {5, 3}, {6, 7}});
  CHECK(symmetrize(forward, backward, grow_diag_final_and) == Links{{0, 0}, {1, 1}, {3, 3}, {3, 4}, {6, 7}});
}

TEST_CASE("symmetrization: the forward link wins if two links compete in the final step") {
  CHECK(symmetrize({{0, 0}}, {{0, 1}}, grow_diag_final_and) == Links{{0, 0}});
  CHECK(symmetrize({{0, 1}}, {{0, 0}}, grow_diag_final_and) == Links{{0, 1}});
}

TEST_CASE("symmetrization: growth follows chains and stops at aligned words") {
  const Links chain{{0, 0}, {1, 1}, {2, 2}, {3, 3}}, first{{0, 0}};
  CHECK(symmetrize(chain, first, grow_diag) == chain);
  const Links block{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, corners{{0, 0}, {1, 1}};
  CHECK(symmetrize(block, corners, grow_diag) == corners);
  CHECK(symmetrize({}, {}, grow_diag_final_and).empty());
  CHECK(symmetrize({{2, 1}}, {}, grow_diag_final_and) == Links{{2, 1}});
}

TEST_CASE("symmetrization: matches the results of Moses' symal") {
  CHECK(symmetrize({{3, 0}, {1, 1}, {0, 2}, {1, 3}}, {{0, 0}, {1, 3}, {2, 2}, {3, 1}}, grow_diag_final_and) ==
        Links{{0, 0}, {0, 2}, {1, 1}, {1, 3}, {2, 2}, {3, 1}});
  CHECK(symmetrize({{3, 0}, {1, 1}, {2, 2}, {0, 3}}, {{0, 3}, {1, 3}, {2, 2}, {3, 3}}, grow_diag_final_and) ==
        Links{{0, 3}, {1, 1}, {2, 2}, {3, 3}});
}

TEST_CASE("symmetrization: methods are selected by name and links can be reversed") {
  CHECK(symmetrization("intersection") == intersection);
  CHECK(symmetrization("union") == union_of_both);
  CHECK(symmetrization("grow-diag") == grow_diag);
  CHECK(symmetrization("grow-diag-final") == grow_diag_final);
  CHECK(symmetrization("grow-diag-final-and") == grow_diag_final_and);
  CHECK(contains(error_of([] { symmetrization("grow"); }), "unknown symmetrisation 'grow'"));
  CHECK(transposed({{0, 5}, {1, 2}}) == Links{{2, 1}, {5, 0}});
}
