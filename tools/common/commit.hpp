#pragma once

namespace attn {

/// The commit that this program was built from. Runs record it.
const char* program_commit();

}  // namespace attn
