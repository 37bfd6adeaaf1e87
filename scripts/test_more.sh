#!/usr/bin/env bash
# test_more.sh [PART...]: what `make test` leaves out: sanitizers, other compilers, other processors, fuzz cases. Runs all parts, or
# those named, goes on after a failure, and ends with a table of what each took (seconds; processor: of all cores together).
set -uo pipefail
cd "$(dirname "$0")/.."
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(getconf _NPROCESSORS_ONLN)}
out=build/more
mkdir -p $out
warnings='-Wall -Wextra -Wpedantic -Wconversion -Werror'
includes='-I include -I tests -I examples -isystem /usr/include/eigen3'
definitions="-DATTN_TEST_FILES='\"tests/files\"' -DATTN_TEST_DATA='\"build\"'"

# ---- Sanitizers ----

addresses() {  # and undefined behaviour; by clang, which compiles in half the time
  clang++-16 -O1 -g1 -fopenmp -fsanitize=address -I tests tests/threads/sanitizer/leak.cpp -o $out/leak || return
  $out/leak || { echo "the address sanitizer sees a leak where there is none"; return 1; }
  ! $out/leak found >$out/leak.log 2>&1 && grep -q 'detected memory leaks' $out/leak.log ||
    { echo "the address sanitizer does not see a leak of OpenMP's threads"; return 1; }
  cmake --fresh --preset cpu-debug >/dev/null && cmake --build --preset cpu-debug && ctest --preset cpu-debug
}

threads() {  # clang's OpenMP tells the thread sanitizer who waits for whom (Archer); g++'s does not
  clang++-16 -O1 -g1 -fopenmp -fsanitize=thread tests/threads/sanitizer/openmp.cpp -o $out/openmp || return
  export TSAN_OPTIONS=ignore_noninstrumented_modules=1
  $out/openmp || { echo "the thread sanitizer sees a race where there is none"; return 1; }
  ! $out/openmp shared >$out/race.log 2>&1 && grep -q 'data race' $out/race.log ||
    { echo "the thread sanitizer does not see a race of OpenMP's threads"; return 1; }
  cmake --fresh --preset cpu-tsan >/dev/null && cmake --build --preset cpu-tsan && ctest --preset cpu-tsan
}

# ---- Compilers ----

each_header() {  # compiles alone
  cmake --preset cpu >/dev/null && cmake --build build/cpu --target all_verify_interface_header_sets
}

every_header() {  # one file that includes them all
  (cd include && find attn -name '*.hpp' ! -name '*_bodies.hpp' ! -path '*/mpi*' ! -path '*/nccl*' | sort) | sed 's/.*/#include "&"/' >$out/every_header.cpp
  echo 'int main() {}' >>$out/every_header.cpp
  # of the packages of OpenMP's omp.h only one can be installed; clang 19 reads that of 16
  mkdir -p $out/omp && cp "$(clang++-16 -print-resource-dir)/include/omp.h" $out/omp/
  local compiler standard status=0
  while read -r compiler standard; do
    if ! command -v $compiler >/dev/null; then
      echo "every header: $compiler is not here: left out"
      continue
    fi
    echo "every header: $compiler, $standard"
    $compiler -std=$standard -fsyntax-only -fopenmp $warnings $(suppressed $compiler) $includes -idirafter $out/omp \
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
    g++) echo -Wno-restrict -Wno-uninitialized -Wno-maybe-uninitialized ;;  # as cmake/programs.cmake has it
    clang++-19) echo -Wno-deprecated-declarations ;;  # libstdc++ 12's stable_sort calls what its own standard calls deprecated
  esac
}

# ---- Processors ----

# cpu_room NAME RUN COMPILER FLAGS...: the room of matrix products and the device, compiled so, run so
cpu_room() {
  local name=$1 run=$2 compiler=$3
  shift 3
  echo "room cpu: $name"
  mkdir -p $out/$name
  python3 scripts/together.py $out/room_cpu.cpp "$PWD"/tests/cpu/*.cpp
  local file
  for file in tests/main.cpp tests/support/reference.cpp $out/room_cpu.cpp; do
    echo "$compiler -std=c++20 -O1 -fopenmp $warnings $(suppressed g++) $* $includes $definitions" \
      "-c $file -o $out/$name/$(basename $file .cpp).o"
  done | xargs -d '\n' -P "$jobs" -I{} sh -c '{}' || return
  $compiler -fopenmp $out/$name/*.o -o $out/$name/test_cpu && $run $out/$name/test_cpu --test-suite-exclude=slow
}

x86_64() {
  [[ $(uname -m) == x86_64 ]] || { echo "this is no x86-64: left out"; return 0; }
  cpu_room x86-64-v2 '' g++ -march=x86-64-v2 && cpu_room x86-64-v3 '' g++ -march=x86-64-v3
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

# ---- Files that are not as they should be ----

fuzz_cases() {
  cmake --fresh --preset fuzz >/dev/null && cmake --build --preset fuzz && ctest --preset fuzz
}

all='addresses threads each_header every_header x86_64 aarch64 fuzz_cases'
parts=("$@")
[[ $# != 0 ]] || parts=($all)
for part in "${parts[@]}"; do
  [[ " $all " == *" $part "* ]] || { echo "test_more.sh: there is no part '$part'; there are $all" >&2; exit 2; }
done
table= failed=0
for part in "${parts[@]}"; do
  echo "==== $part"
  TIMEFORMAT='%R %U %S'
  echo 'did not end' >$out/status
  { time ("$part" >&3 2>&3; echo $? >$out/status); } 3>&1 2>$out/time
  read -r wall user system < <(tail -1 $out/time)
  result=passed
  [[ $(<$out/status) == 0 ]] || result=FAILED failed=1
  table+=$(printf '%-14s %-7s %6.0f s   processor %6.0f s' "$part" $result "$wall" "$(awk "BEGIN {print $user + $system}")")$'\n'
done
printf '\n%s' "$table"
exit $failed
