#pragma once
#include "engine.hpp"

// One function for each family of models and device, each compiled in a file of its own, so that they compile side by side:
// cpu_*.cpp and, where the program is built with CUDA, cuda_*.cu.

std::unique_ptr<Engine> cpu_transformer(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cpu_linformer32(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cpu_linformer64(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cpu_additive(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cpu_multiplicative(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cpu_scaled_dot(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cpu_key_value(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cpu_others(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cuda_transformer(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cuda_linformer32(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cuda_linformer64(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cuda_additive(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cuda_multiplicative(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cuda_scaled_dot(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cuda_key_value(const ModelFolder&, const Place&);
std::unique_ptr<Engine> cuda_others(const ModelFolder&, const Place&);
