#!/usr/bin/env bash
# test_more.sh [--minutes N] [PART...]: the tests that `make test` omits: sanitizers, other compilers, other processors, fuzz cases. Runs
# all parts, or the named ones. Continues after a failure, and ends with a table of the time of each part (seconds; processor: sum over
# all cores). A part that omits a missing compiler or processor counts as skipped, not as passed.
#
#   --minutes N   starts only parts that end within N minutes, by the estimates below; the first part changes with every commit
set -uo pipefail
cd "$(dirname "$0")/.."
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(getconf _NPROCESSORS_ONLN)}
out=build/more
mkdir -p $out
warnings='-Wall -Wextra -Wpedantic -Wconversion -Werror'
includes='-I include -I tests -I examples -I tools -isystem /usr/include/eigen3'
readonly skipped=77  # status of a part that passed, but could not run completely
definitions="-DATTN_TEST_FILES='\"tests/files\"' -DATTN_TEST_DATA='\"build\"'"

# ---- Sanitizers ----

# run_preset PRESET: a skipped test, for example without its data, counts
run_preset() {
  cmake --fresh --preset $1 >/dev/null && cmake --build --preset $1 && ctest --preset $1 | tee $out/$1.log || return
  ! grep -q '(Skipped)' $out/$1.log || return $skipped
}

addresses() { run_preset cpu-debug; }  # and undefined behaviour; clang compiles in half the time

threads() { run_preset cpu-tsan; }

# ---- Compilers ----

each_header() {  # each header compiles alone
  cmake --preset cpu >/dev/null && cmake --build build/cpu --target all_verify_interface_header_sets
}

every_header() {  # one file that includes them all
  (cd include && find attn -name '*.hpp' ! -path '*/mpi*' ! -path '*/nccl*' | sort) | sed 's/.*/#include "&"/' >$out/every_header.cpp
  echo 'int main() {}' >>$out/every_header.cpp
  local compiler standard status=0
  while read -r compiler standard; do
    if ! command -v $compiler >/dev/null; then
      echo "every header: $compiler is not installed: skipped"
      [[ $status != 0 ]] || status=$skipped
      continue
    fi
    echo "every header: $compiler, $standard"
    $compiler -std=$standard -fsyntax-only $warnings $(suppressed $compiler) $includes \
      $out/every_header.cpp || status=1
  done <<<'g++ c++23
g++-13 c++20
g++-14 c++20
clang++-16 c++20
clang++-19 c++23'
  return $status
}

suppressed() {
  case $1 in
    g++) echo -Wno-restrict -Wno-uninitialized -Wno-maybe-uninitialized ;;  # as in cmake/programs.cmake
    clang++-19) echo -Wno-deprecated-declarations ;;  # libstdc++ 12's stable_sort calls a deprecated function
  esac
}

# ---- Processors ----

# cpu_room NAME RUN COMPILER FLAGS...: compiles and runs tests/cpu, the matrix products and the device, for another processor
cpu_room() {
  local name=$1 run=$2 compiler=$3
  shift 3
  echo "tests/cpu: $name"
  mkdir -p $out/$name
  python3 scripts/together.py $out/room_cpu.cpp "$PWD"/tests/cpu/*.cpp
  local file
  for file in tests/main.cpp tests/support/reference.cpp $out/room_cpu.cpp; do
    echo "$compiler -std=c++20 -O1 -pthread $warnings $(suppressed g++) $* $includes $definitions" \
      "-c $file -o $out/$name/$(basename $file .cpp).o"
  done | xargs -d '\n' -P "$jobs" -I{} sh -c '{}' || return
  $compiler -pthread $out/$name/*.o -o $out/$name/test_cpu && $run $out/$name/test_cpu --test-suite-exclude=slow
}

x86_64() {
  [[ $(uname -m) == x86_64 ]] || { echo "this machine is not x86-64: skipped"; return $skipped; }
  cpu_room x86-64-v2 '' g++ -march=x86-64-v2 && cpu_room x86-64-v3 '' g++ -march=x86-64-v3 || return
  grep -qw avx512_bf16 /proc/cpuinfo || { echo 'tests/cpu: this processor has no AVX512-BF16: skipped'; return $skipped; }
  cpu_room avx512-bf16 '' g++ -march=native -mno-amx-bf16
}

aarch64() {  # without and with instructions for bf16
  local compiler=aarch64-linux-gnu-g++ run='qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu' run_bf16
  run_bf16=$run
  if [[ $(uname -m) == aarch64 ]]; then
    compiler=g++ run='' run_bf16='qemu-aarch64 -cpu max'
    if grep -qw bf16 /proc/cpuinfo && grep -qw i8mm /proc/cpuinfo; then run_bf16=''; fi
  fi
  cpu_room armv8 "$run" $compiler -march=armv8-a && cpu_room armv8.6 "$run_bf16" $compiler -march=armv8.6-a+bf16
}

# ---- Damaged files ----

fuzz_cases() {
  run_preset fuzz
}

all='addresses threads each_header every_header x86_64 aarch64 fuzz_cases'
declare -A estimate=([addresses]=20 [threads]=15 [each_header]=10 [every_header]=4 [x86_64]=6 [aarch64]=8 [fuzz_cases]=5)  # minutes, two cores
minutes=
if [[ ${1:-} == --minutes ]]; then minutes=${2:?--minutes needs a number}; shift 2; fi
parts=("$@")
if [[ $# == 0 ]]; then
  parts=($all)
  if [[ $minutes ]]; then
    first=$(($(git rev-list --count HEAD) % ${#parts[@]}))
    parts=("${parts[@]:first}" "${parts[@]:0:first}")
  fi
fi
for part in "${parts[@]}"; do
  [[ " $all " == *" $part "* ]] || { echo "test_more.sh: unknown part '$part'; use one of $all" >&2; exit 2; }
done
table= failed=0
for part in "${parts[@]}"; do
  if [[ $minutes ]] && ((SECONDS + 60 * estimate[$part] > 60 * minutes)); then
    table+=$(printf '%-14s left out: %d minutes do not fit' "$part" "${estimate[$part]}")$'\n'
    continue
  fi
  echo "==== $part"
  TIMEFORMAT='%R %U %S'
  echo 'did not end' >$out/status
  { time ("$part" >&3 2>&3; echo $? >$out/status); } 3>&1 2>$out/time
  read -r wall user system < <(tail -1 $out/time)
  result=passed
  case $(<$out/status) in
    0) ;;
    $skipped) result=skipped ;;
    *) result=FAILED failed=1 ;;
  esac
  table+=$(printf '%-14s %-7s %6.0f s   processor %6.0f s' "$part" $result "$wall" "$(awk "BEGIN {print $user + $system}")")$'\n'
done
printf '\n%s' "$table"
exit $failed
