#pragma once
#include <string>

// What the programs know of GPUs: gpus.cu where they are built with CUDA, no_gpus.cpp where they are not. Free of CUDA's headers,
// for files that nvcc does not compile.

bool built_with_cuda();

/// How many GPUs there are.
int gpus();

/// The driver, runtime and GPUs that were found.
std::string gpus_found();

/// An Error that says what is found and what is needed, unless the program can run on that GPU.
void check_gpu(int gpu);
