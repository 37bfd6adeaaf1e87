#include "papers/commit.hpp"

const char* papers::commit() { return ATTN_COMMIT; }  // examples/CMakeLists.txt asks git
