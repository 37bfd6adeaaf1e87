#!/usr/bin/env bash
# fuzz.sh [SECONDS] [NAME...]: builds the fuzz targets with libFuzzer and runs all of them, or the named ones, for SECONDS each (60).
# Failing inputs are in build/fuzz/found/NAME. After fixing a bug, add its input to tests/fuzz/cases/NAME as a regression test.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
shift || true
[[ $seconds =~ ^[0-9]+$ ]] || { echo "fuzz.sh: '$seconds' is not a number of seconds" >&2; exit 2; }
scripts/setup.sh build test more
cmake --preset fuzz >/dev/null
cmake --build build/fuzz --target fuzz_targets

failed=()
for file in tests/fuzz/*.cpp; do
  name=$(basename "$file" .cpp)
  [[ $# == 0 || " $* " == *" $name "* ]] || continue
  new=build/fuzz/corpus/$name found=build/fuzz/found/$name
  mkdir -p "$new" "$found"
  if build/fuzz/tests/fuzz_"$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=512 -max_len=16384 \
      -print_final_stats=1 -artifact_prefix="$found/" "$new" tests/fuzz/cases/"$name" >"$found.log" 2>&1; then
    printf '%-20s no failure in %s cases\n' "$name" "$(sed -n 's/stat::number_of_executed_units: *//p' "$found.log")"
  else
    printf '%-20s FAILED: see %s\n' "$name" "$found.log"
    failed+=("$name")
  fi
done
((${#failed[@]} == 0))
