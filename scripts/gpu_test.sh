#!/usr/bin/env bash
# gpu_test.sh [--quick] [--sanitize] [--record [FILE]] [--arch ARCH]: builds the tests of the CUDA backend and runs them on this GPU.
#
#   --quick      skip the large cases
#   --sanitize   repeat the tests under compute-sanitizer: memcheck without the large cases, racecheck also without the long ones.
#                A single long attention case takes up to five minutes
#   --record     first record the errors of PyTorch, the scale for attn's errors, in tests/files/pytorch_errors.json or in FILE.
#                ATTN_PYTHON names a Python with PyTorch and CUDA, if python3 does not have them
#   --arch       build for this architecture instead of this GPU, in build/cuda-ARCH: 80 tests the kernels of other GPUs
#
# Needs a GPU, its driver, nvcc, g++, CMake, ninja, Eigen, nlohmann-json and doctest; installs nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

quick='' sanitize='' record='' architecture='' record_to=tests/files/pytorch_errors.json
while (($#)); do
  case $1 in
    --quick) quick=1 ;;
    --sanitize) sanitize=1 ;;
    --arch) architecture=${2:?--arch needs an architecture, such as 80}; shift ;;
    --record) record=1; if [[ ${2:-} == [!-]* ]]; then record_to=$2; shift; fi ;;
    *) sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
  shift
done
# nvcc and compute-sanitizer are often installed outside PATH.
for folder in "${CUDA_HOME:-}/bin" /usr/local/cuda/bin; do [[ ! -x $folder/nvcc ]] || PATH=$PATH:$folder; done
for tool in nvidia-smi nvcc cmake ninja; do
  command -v "$tool" >/dev/null || { echo "gpu_test.sh needs $tool, and a machine with an NVIDIA GPU" >&2; exit 1; }
done

# ---- Build ----

build=build/cuda${architecture:+-$architecture}
nvidia-smi --id=0 --query-gpu=name,driver_version --format=csv,noheader
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(getconf _NPROCESSORS_ONLN)}
started=$SECONDS
mkdir -p build
cmake --preset cuda -B "$build" -DATTN_BUILD_TOOLS=OFF -DATTN_BUILD_EXAMPLES=OFF -DATTN_BUILD_BENCHMARKS=OFF \
  ${architecture:+-DCMAKE_CUDA_ARCHITECTURES=$architecture} >build/gpu_test.log 2>&1 || { cat build/gpu_test.log >&2; exit 1; }
cmake --build "$build" --target test_cuda --parallel "$jobs"
program=$build/tests/test_cuda
echo "built for ${architecture:-this GPU} in $((SECONDS - started)) s"

# ---- Run ----

summary=()
failures=0
# run WHAT COMMAND...: runs the command and adds a line to the summary.
run() {
  local what=$1 from=$SECONDS status=0
  shift
  echo "---- $what"
  "$@" || status=$?
  if ((status)); then ((failures += 1)); fi
  summary+=("$( ((status)) && echo "FAILED ($status)" || echo ok)  $what, $((SECONDS - from)) s")
}

if [[ $record ]]; then
  for python in ${ATTN_PYTHON:-build/venv/bin/python python3}; do
    if "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then break; fi
    python=
  done
  [[ -n $python ]] || { echo "gpu_test.sh --record needs a Python with PyTorch that sees the GPU: ATTN_PYTHON=... $0" >&2; exit 1; }
  run "PyTorch's errors" "$python" tests/python/cuda_errors.py --device cuda --to "$record_to"
  [[ $record_to -ef tests/files/pytorch_errors.json ]] || cp "$record_to" tests/files/pytorch_errors.json
fi

if [[ $quick ]]; then export ATTN_TEST_QUICK=1; fi
run "tests" "$program"

if [[ $sanitize ]]; then
  sanitizer=$(command -v compute-sanitizer) || { echo "gpu_test.sh --sanitize needs compute-sanitizer, a part of CUDA" >&2; exit 1; }
  export ATTN_TEST_QUICK=1
  # Every op, and every kernel of a training step. CPU cases launch no kernels, so they are skipped.
  ops='accuracy: *<Cuda*' models='models: empty sentences*<Cuda*'
  run "memcheck" "$sanitizer" --tool memcheck --error-exitcode 9 --print-limit 20 \
    "$program" --test-case="$ops,${models}"
  # racecheck is slow, so several processes run in parallel for each op, each with a share of its cases.
  shares=8
  racecheck() {
    "$program" --no-version --list-test-cases --test-case="$ops" | grep '^accuracy' |
      while read -r name; do for ((i = 0; i < shares; ++i)); do printf '%s\0' "ATTN_TEST_SHARE=$i/$shares" "--test-case=$name"; done; done |
      xargs --null --max-args=2 --max-procs="$jobs" bash -c 'env "${@: -2:1}" "${@:1:$# - 2}" "${@: -1}"' - \
        "$sanitizer" --tool racecheck --racecheck-report analysis --error-exitcode 9 --print-limit 20 "$program"
  }
  export ATTN_TEST_QUICK=2
  run "racecheck" racecheck
fi

echo
printf '%s\n' "${summary[@]}"
((failures == 0))
