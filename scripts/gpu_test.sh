#!/usr/bin/env bash
# gpu_test.sh [--quick] [--sanitize] [--record [FILE]]: builds the tests of the CUDA backend and runs them on this machine's GPU.
#
#   --quick      without the large cases
#   --sanitize   then again, without the large cases, under compute-sanitizer's memcheck, and without the long ones under its racecheck:
#                long, single cases of attention take up to five minutes
#   --record     first records PyTorch's errors, which attn's are measured with, in tests/files/pytorch_errors.json or in FILE;
#                ATTN_PYTHON names a Python that has PyTorch with CUDA, if python3 does not
#
# Needs a GPU, its driver, nvcc, g++, CMake, ninja, Eigen, nlohmann-json and doctest; nothing is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

quick='' sanitize='' record='' record_to=tests/files/pytorch_errors.json
while (($#)); do
  case $1 in
    --quick) quick=1 ;;
    --sanitize) sanitize=1 ;;
    --record) record=1; if [[ ${2:-} == [!-]* ]]; then record_to=$2; shift; fi ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
  shift
done
# nvcc and compute-sanitizer are often installed where no PATH leads.
for folder in "${CUDA_HOME:-}/bin" /usr/local/cuda/bin; do [[ ! -x $folder/nvcc ]] || PATH=$PATH:$folder; done
for tool in nvidia-smi nvcc cmake ninja; do
  command -v "$tool" >/dev/null || { echo "gpu_test.sh needs $tool, and a machine with an NVIDIA GPU" >&2; exit 1; }
done

# ---- Build, for the GPU that is here: 9.0 is sm_90a, whose matrix instructions attn's kernels use ----

capability=$(nvidia-smi --id=0 --query-gpu=compute_cap --format=csv,noheader)
architecture=${capability//./}
[[ $architecture != 90 ]] || architecture=90a
nvidia-smi --id=0 --query-gpu=name,driver_version --format=csv,noheader
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(getconf _NPROCESSORS_ONLN)}
started=$SECONDS
mkdir -p build
cmake --preset cuda -DATTN_BUILD_EXAMPLES=OFF -DATTN_BUILD_BENCHMARKS=OFF -DCMAKE_CUDA_ARCHITECTURES="$architecture" \
  >build/gpu_test.log 2>&1 || { cat build/gpu_test.log >&2; exit 1; }
cmake --build build/cuda --target test_cuda --parallel "$jobs"
program=build/cuda/tests/test_cuda
echo "built for sm_$architecture in $((SECONDS - started)) s"

# ---- Run ----

summary=()
failures=0
# run WHAT COMMAND...: its output, and a line for the summary.
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
# The first run leaves its plans of matrix products; under the sanitizers, where timing algorithms would take minutes, they are read.
ATTN_TEST_PLANS=$(mktemp -d)
export ATTN_TEST_PLANS
trap 'rm -rf "$ATTN_TEST_PLANS"' EXIT
run "tests" "$program"

if [[ $sanitize ]]; then
  sanitizer=$(command -v compute-sanitizer) || { echo "gpu_test.sh --sanitize needs compute-sanitizer, a part of CUDA" >&2; exit 1; }
  export ATTN_TEST_QUICK=1
  # Every op, and every kernel that a step of training starts; the CPU's own cases have nothing to be watched.
  ops='near the truth: *<Cuda*' models='models: nothing but empty*<Cuda*'
  run "memcheck" "$sanitizer" --tool memcheck --error-exitcode 9 --print-limit 20 \
    "$program" --test-case="$ops,${models}"
  # Looking for races is slow, and programs do not hinder each other: several for each op, each with a share of its cases.
  shares=8
  racecheck() {
    "$program" --no-version --list-test-cases --test-case="$ops" | grep '^near the truth' |
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
