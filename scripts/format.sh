#!/usr/bin/env bash
# format.sh formats every C++ and CUDA file in place. format.sh --check fails if a file is not formatted, and changes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

# Releases of clang-format format differently. The project uses 14, the version in Debian 12.
for tool in clang-format-14 clang-format; do
  if version=$("$tool" --version 2>/dev/null) && [[ $version == *"version 14."* ]]; then break; fi
  tool=
done
if [[ -z $tool ]]; then
  echo "format.sh needs clang-format 14; found: ${version:-none}. On Debian or Ubuntu: apt-get install clang-format-14" >&2
  exit 1
fi

if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  list=(git ls-files -z --cached --others --exclude-standard '*.hpp' '*.cpp' '*.cu' '*.cuh')
else  # an unpacked archive
  list=(find . -path ./build -prune -o '(' -name '*.[hc]pp' -o -name '*.cu' -o -name '*.cuh' ')' -print0)
fi
mode=(-i)
[[ ${1:-} == --check ]] && mode=(--dry-run --Werror)
# git still lists a deleted file until the deletion is committed.
"${list[@]}" | while IFS= read -rd '' file; do [[ -f $file ]] && printf '%s\0' "$file"; done | xargs -0r "$tool" "${mode[@]}"
