#!/usr/bin/env bash
# setup.sh [build] [test] [more] [docs]: installs what building or testing attn, or making its site, needs and this machine lacks; says
# what and why; else silent.
set -euo pipefail
cd "$(dirname "$0")/.."

# package | how to see that it is there: a command, or a file, or a Python module | why
build='
g++                | g++                              | the C++20 compiler
cmake              | cmake                            | the build
ninja-build        | ninja                            | the build
python3            | python3                          | the record of compile costs
libeigen3-dev      | /usr/include/eigen3/Eigen/Core   | matrix products on the CPU
nlohmann-json3-dev | /usr/include/nlohmann/json.hpp   | vocabularies and checkpoints
libcli11-dev       | /usr/include/CLI/CLI.hpp         | the options of the examples'
test='
doctest-dev        | /usr/include/doctest/doctest.h         | the tests
libbenchmark-dev   | /usr/include/benchmark/benchmark.h     | the micro-benchmarks
libopenmpi-dev     | mpicxx                                 | trainings on several processes
openmpi-bin        | mpirun                                 | the same
clang-format-14    | clang-format-14                        | the check of the formatting
xz-utils           | xz                                     | Europarl, as real data has it
python3-venv       | import ensurepip                       | a virtual environment for the packages below'
more='
clang-16             | clang++-16                                          | the thread sanitizer, fuzzing, the headers
libclang-rt-16-dev   | /usr/lib/llvm-16/lib/clang/16/lib/linux             | the sanitizers of clang
libomp-16-dev        | /usr/lib/llvm-16/lib/clang/16/include/omp.h         | OpenMP that the thread sanitizer understands
clang-19             | clang++-19                                          | the headers
g++-aarch64-linux-gnu | /usr/bin/aarch64-linux-gnu-g++                     | kernels for ARM
qemu-user            | qemu-aarch64                                        | running them'
docs='
python3            | python3                          | the layout of the pages
python3-venv       | import ensurepip                 | a virtual environment for the packages below'
# What attn's results are compared with, and its package's test. Their versions are stated: with another release a test would say nothing of attn.
test_pip='torch==2.15.0 transformers==5.23.0 tokenizers==0.23.3 sentencepiece==0.2.3 sacrebleu==2.6.0 nltk==3.10.4 safetensors==0.8.0
  tensorboard==2.21.0 numpy conan==2.34.0'
docs_pip='mkdocs-material'

wanted=
for purpose in "${@:-build}"; do
  case $purpose in
    build) wanted+=$build ;;
    test) wanted+=$test ;;
    more) wanted+=$more ;;
    docs) wanted+=$docs ;;
    *) echo "setup.sh: no purpose is called '$purpose'; there are build, test, more and docs" >&2; exit 2 ;;
  esac
done

there() {
  case $1 in
    /*) [[ -e $1 ]] ;;
    import\ *) python3 -c "$1" 2>/dev/null ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

missing=()
reasons=
while IFS='|' read -r package sign why; do
  package=${package// /} sign=$(echo $sign)
  [[ -z $package ]] || there "$sign" || { missing+=("$package"); reasons+="  $package:$why"$'\n'; }
done <<<"$wanted"

if ((${#missing[@]})); then
  if ! command -v apt-get >/dev/null; then
    echo "attn needs what Debian calls ${missing[*]}: install your system's packages of these, then run this again." >&2
    exit 1
  fi
  as_root=()
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || { echo "As root, run: apt-get install ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
  fi
  printf 'Installing with apt-get:\n%s' "$reasons"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
fi

if [[ " $* " == *" build "* || $# == 0 ]]; then
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
  if [[ $(printf '3.25\n%s\n' "$version" | sort -V | head -1) != 3.25 ]]; then
    echo "attn needs CMake 3.25 or later, as Debian 12 has it; this is $version." >&2
    exit 1
  fi
fi

# packages FOLDER WHY NAME[==VERSION]...: a virtual environment with these packages
packages() {
  local folder=$1 why=$2 lacking
  shift 2
  "$folder/bin/python" -m pip --version >/dev/null 2>&1 || { echo "Making a virtual environment in $folder"; python3 -m venv --clear "$folder"; }
  lacking=$("$folder/bin/python" - "$@" <<'PYTHON'
import importlib.metadata as metadata
import sys
installed = {distribution.metadata["Name"].lower(): distribution.version for distribution in metadata.distributions()}
for wanted in sys.argv[1:]:
    name, _, version = wanted.partition("==")
    if name not in installed or version not in ("", installed[name]):
        print(wanted, end=" ")
PYTHON
  )
  if [[ -n $lacking ]]; then
    echo "Installing with pip into $folder, $why: $lacking"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check $lacking
  fi
}
[[ " $* " != *" test "* ]] || packages build/venv "to compare attn with and to test its package" $test_pip
[[ " $* " != *" docs "* ]] || packages build/docs-venv "to make the site" $docs_pip
