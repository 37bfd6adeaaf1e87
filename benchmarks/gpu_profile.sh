#!/usr/bin/env bash
# gpu_profile.sh [NAME] [FILE]: lists the kernels of a step of the benchmark NAME (train, linformer32, fixed, 'attention
# 88x64', 'encoder 1024', ...) by time, with Nsight Compute. It serialises kernels, so their sum is not the step's time.
# FILE keeps every launch.
set -euo pipefail
cd "$(dirname "$0")/.."
name=${1:-train}
file=${2:-build/cuda/profile.csv}
command -v ncu >/dev/null || { echo "gpu_profile.sh needs ncu, NVIDIA's Nsight Compute" >&2; exit 1; }
# Keep clocks and caches as in a real run.
ncu --clock-control none --cache-control none --profile-from-start off --metrics gpu__time_duration.sum --print-units base \
  --csv --page raw --log-file "$file" build/cuda/benchmarks/transformer_cuda --profile --only "$name"
python3 benchmarks/kernel_times.py --steps 3 "$file"
