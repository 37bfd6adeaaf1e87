#pragma once
#include "attn/nn/lstm.hpp"
#include "device.hpp"

void lstm(Device&, const attn::LstmArgs<Device>&);
void lstm_gradient(Device&, const attn::LstmGradientArgs<Device>&);
