#pragma once
#include <string>

// What this program knows of GPUs: gpus.cu where it is built with CUDA, no_gpus.cpp where it is not. Free of CUDA's headers,
// for files that nvcc does not compile.

bool built_with_cuda();

/// How many GPUs there are.
int gpus();

/// The driver, runtime and GPUs that were found.
std::string gpus_found();

/// An Error that says what is found and what is needed, unless this program can run on that GPU.
void check_gpu(int gpu);
