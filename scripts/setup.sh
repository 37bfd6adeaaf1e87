#!/usr/bin/env bash
# setup.sh [build] [test] [more] [docs]: installs missing packages for building attn, testing it, more tests, or the site. Prints each
# package with the reason. Prints nothing if none is missing. Optional packages that cannot be installed are not an error.
set -euo pipefail
cd "$(dirname "$0")/.."

# package | command, file or Python module that shows that it is installed | reason
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
libopenmpi-dev     | mpicxx                                 | training on several processes
openmpi-bin        | mpirun                                 | the same
clang-format-14    | clang-format-14                        | the check of the formatting
xz-utils           | xz                                     | Europarl files
perl-base          | perl                                   | BLEU by multi-bleu.perl
python3-venv       | import ensurepip                       | a virtual environment for the packages below'
# Without these, the tests that need them are skipped.
test_optional='
chromium           | chromium                               | the test of reports in a browser'
more='
clang-16             | clang++-16                                          | the thread sanitizer, fuzzing, the headers
libclang-rt-16-dev   | /usr/lib/llvm-16/lib/clang/16/lib/linux             | the sanitizers of clang
clang-19             | clang++-19                                          | the headers
g++-aarch64-linux-gnu | /usr/bin/aarch64-linux-gnu-g++                     | kernels for ARM
qemu-user            | qemu-aarch64                                        | running them'
docs='
python3            | python3                          | the layout of the pages
python3-venv       | import ensurepip                 | a virtual environment for the packages below'
# References that the tests compare attn with, and conan for the test of the package. Versions are fixed, because results of other
# releases may differ.
test_pip='torch==2.15.0 transformers==5.23.0 tokenizers==0.23.3 sentencepiece==0.2.3 sacrebleu==2.6.0 nltk==3.10.4 safetensors==0.8.0
  tensorboard==2.21.0 numpy conan==2.34.0'
docs_pip='mkdocs-material latex2mathml'
# The wheel of this PyPI package contains Moses' multi-bleu.perl.
moses_pip='texar-pytorch==0.1.4'
moses_sha256=a94489593499db1b7670fd41388b620020ac7876417315a92f2586d21f5d02f5

wanted=
for purpose in "${@:-build}"; do
  case $purpose in
    build) wanted+=$build ;;
    test) wanted+=$test ;;
    more) wanted+=$more ;;
    docs) wanted+=$docs ;;
    *) echo "setup.sh: unknown purpose '$purpose'; use build, test, more or docs" >&2; exit 2 ;;
  esac
done

there() {
  case $1 in
    /*) [[ -e $1 ]] ;;
    import\ *) python3 -c "$1" 2>/dev/null ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

# install LIST: installs the missing packages of a list; its status is 0 if none is missing any more
install() {
  local package sign why missing=() reasons= as_root=()
  while IFS='|' read -r package sign why; do
    package=${package// /} sign=$(echo $sign)
    [[ -z $package ]] || there "$sign" || { missing+=("$package"); reasons+="  $package:$why"$'\n'; }
  done <<<"$1"
  ((${#missing[@]})) || return 0
  if ! command -v apt-get >/dev/null; then
    echo "attn needs these Debian packages: ${missing[*]}. Install the equivalent packages of your system, then run this again." >&2
    return 1
  fi
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || { echo "As root, run: apt-get install ${missing[*]}" >&2; return 1; }
    as_root=(sudo)
  fi
  printf 'Installing with apt-get:\n%s' "$reasons"
  "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
}
install "$wanted"
if [[ " $* " == *" test "* ]]; then
  install "$test_optional" || echo "setup.sh: continuing without these optional packages; the tests that need them are skipped" >&2
fi

if [[ " $* " == *" build "* || $# == 0 ]]; then
  version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9]*\.[0-9]*\).*/\1/p')
  if [[ $(printf '3.25\n%s\n' "$version" | sort -V | head -1) != 3.25 ]]; then
    echo "attn needs CMake 3.25 or later, as in Debian 12; found $version." >&2
    exit 1
  fi
fi

# packages FOLDER WHY NAME[==VERSION]...: creates a virtual environment with these packages
packages() {
  local folder=$1 why=$2 lacking
  shift 2
  "$folder/bin/python" -m pip --version >/dev/null 2>&1 || { echo "Creating a virtual environment in $folder"; python3 -m venv --clear "$folder"; }
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

# multi_bleu FOLDER: downloads Moses' script into this virtual environment
multi_bleu() {
  [[ ! -e $1/multi-bleu.perl ]] || return 0
  echo "Downloading multi-bleu.perl from $moses_pip into $1, for comparisons in the tests"
  "$1/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$1/moses" "$moses_pip"
  "$1/bin/python" -m zipfile -e "$1"/moses/*.whl "$1/moses"
  echo "$moses_sha256  $1/moses/bin/utils/multi-bleu.perl" | sha256sum --check --quiet
  mv "$1/moses/bin/utils/multi-bleu.perl" "$1"
  rm -r "$1/moses"
}
if [[ " $* " == *" test "* ]]; then
  packages build/venv "for comparisons in the tests and for the test of the package" $test_pip
  multi_bleu build/venv
fi
[[ " $* " != *" docs "* ]] || packages build/docs-venv "to build the site" $docs_pip
