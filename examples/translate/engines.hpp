#pragma once
#include "engine.hpp"

// The engine of the model that a folder names, on either device. Each is compiled in a file of its own, so that they compile side by
// side: cpu_*.cpp and, where the program is built with CUDA, cuda_*.cu.

std::unique_ptr<Engine> cpu_transformer(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cpu_recurrent(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cuda_transformer(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cuda_recurrent(const ModelFolder&, const Place&);
