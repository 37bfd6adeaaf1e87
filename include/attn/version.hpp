#pragma once

/// The one place that states the version; CMake and Conan read it from here.
#define ATTN_VERSION "0.2.0"
