#include "common/commit.hpp"

const char* attn::program_commit() { return ATTN_COMMIT; }  // set in tools/common/CMakeLists.txt
