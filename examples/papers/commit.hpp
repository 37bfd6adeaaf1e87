#pragma once

namespace papers {

/// The commit that this program was built from; runs name it.
const char* commit();

}  // namespace papers
