#pragma once
#include "attn/models/recurrent_models.hpp"
#include "device.hpp"
