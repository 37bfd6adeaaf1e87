#!/usr/bin/env bash
# gpu_benchmark.sh [options of benchmarks/versus_pytorch_cuda.py]: builds the GPU benchmarks of attn and compares them with PyTorch.
# Without options, it also runs decoding and the recurrent models. Takes about five minutes on an H200.
#
#   ARCH=80            build for this architecture instead of the GPU of this machine, and compare with the requirements of that build
#   ATTN_PYTHON=...    a Python with PyTorch and CUDA, if python3 does not have them
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
build=build/cuda${ARCH:+-$ARCH}
cmake --preset cuda -B "$build" -DATTN_BUILD_TESTS=OFF -DATTN_BUILD_TOOLS=OFF -DATTN_BUILD_EXAMPLES=OFF ${ARCH:+-DCMAKE_CUDA_ARCHITECTURES=$ARCH}
cmake --build "$build" --target transformer_cuda decode_cuda recurrent_cuda
status=0
"$python" benchmarks/versus_pytorch_cuda.py --programs "$build/benchmarks" "$@" || status=$?
if (($# == 0)); then
  "$build/benchmarks/decode_cuda" || status=$?
  "$python" benchmarks/pytorch_decode.py || status=$?
  "$python" benchmarks/versus_pytorch_recurrent.py --cuda --programs "$build/benchmarks" || status=$?
fi
exit $status
