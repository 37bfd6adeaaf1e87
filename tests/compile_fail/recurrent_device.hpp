#pragma once
#include "attn/models/input_feeding.hpp"
#include "device.hpp"
