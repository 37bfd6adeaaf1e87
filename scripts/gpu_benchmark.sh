#!/usr/bin/env bash
# gpu_benchmark.sh [options of benchmarks/versus_pytorch_cuda.py]: builds attn's GPU benchmarks and runs them side by side with PyTorch;
# without options the recurrent models too.
# About four minutes on an H200. ATTN_PYTHON names a Python that has PyTorch with CUDA, if python3 does not.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in cmake ninja nvcc nvidia-smi; do
  command -v "$tool" >/dev/null || { echo "gpu_benchmark.sh needs $tool, and a machine with an NVIDIA GPU" >&2; exit 1; }
done
for python in ${ATTN_PYTHON:-build/venv/bin/python python3}; do
  if "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then break; fi
  python=
done
[[ -n $python ]] || { echo "gpu_benchmark.sh needs a Python with PyTorch that sees the GPU: ATTN_PYTHON=... $0" >&2; exit 1; }

export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(getconf _NPROCESSORS_ONLN)}
cmake --preset cuda -DATTN_BUILD_TESTS=OFF -DATTN_BUILD_EXAMPLES=OFF
cmake --build build/cuda --target transformer_cuda recurrent_cuda
status=0
"$python" benchmarks/versus_pytorch_cuda.py --programs build/cuda/benchmarks "$@" || status=$?
(($#)) || "$python" benchmarks/versus_pytorch_recurrent.py --cuda --programs build/cuda/benchmarks || status=$?
exit $status
