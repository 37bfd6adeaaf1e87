#!/usr/bin/env bash
# demo_needs.sh SOURCE FOLDER: `make demo` configures, in FOLDER, where there is no more than `scripts/setup.sh build` installs.
set -euo pipefail
cd "$1"
configure=$(make --no-print-directory --dry-run demo | awk '/^cmake --preset/ && !found++')
rm -rf "$2"
for package in MPI doctest benchmark; do configure+=" -DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"; done
$configure -B "$2"
