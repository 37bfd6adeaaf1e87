#pragma once

/// The single definition of the version; CMake and Conan read it from here.
#define ATTN_VERSION "0.3.0"
