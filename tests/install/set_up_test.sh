#!/usr/bin/env bash
# make install and make demo ask for what they build and no more: what scripts/install-deps would
# install on a machine without any package; and CMake configures where the rest is missing.
#   set_up_test.sh <cmake>
set -euo pipefail
cmake=$1
source=$(cd "$(dirname "$0")/../.." && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$1"
  [[ -f $work/log ]] && cat "$work/log"
  exit 1
}

# No package is there, and what is asked for is written down.
mkdir "$work/bin"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-query"
cp "$work/bin/dpkg-query" "$work/bin/sudo"
printf '#!/bin/sh\necho "apt-get $*"\n' >"$work/bin/apt-get"
chmod +x "$work"/bin/*

for_tests='gtest|gmock|mpi|openssh|clang|benchmark|python3|iproute2'
hidden=()
for package in GTest MPI benchmark Python3; do
  hidden+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON")
done

# A target, and what it must not ask for.
asks_for_what_it_builds() {
  local target=$1 foreign=$2 steps asked package
  steps=$(env -u MAKEFLAGS -u MFLAGS \
    make --no-print-directory -n -C "$source" "$target" BUILD="$work/fresh")
  asked=$(grep -E '^scripts/install-deps' <<<"$steps")
  (cd "$source" && PATH=$work/bin:$PATH bash -c "$asked") >"$work/log" 2>&1 || true
  grep 'apt-get install' "$work/log" >"$work/packages" || fail "make $target: nothing is asked for"
  for package in g++ cmake libssl-dev; do
    grep -Fqw -- "$package" "$work/packages" || fail "make $target does not ask for $package"
  done
  if grep -Eq -- "$foreign" "$work/packages"; then
    fail "make $target asks for more than it builds"
  fi

  read -ra configure <<<"$(grep -E '^cmake --preset' <<<"$steps")"
  (cd "$source" && "$cmake" "${configure[@]:1}" -B "$work/$target" "${hidden[@]}" "${@:3}") \
    >"$work/log" 2>&1 || fail "make $target: CMake asks for more than it builds"
  "$cmake" --build "$work/$target" --target help >"$work/log"
  grep -q '^programs:' "$work/log" || fail "make $target: there are no programs to build"
}
asks_for_what_it_builds install "$for_tests|png" -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON
asks_for_what_it_builds demo "$for_tests"

# Who configures by hand hears what is missing, and what leaves it out.
says() {
  if "$cmake" -S "$source" -B "$work/$1" "${@:3}" >"$work/log" 2>&1; then
    fail "$1: it configures"
  fi
  tr -s ' \n' ' ' <"$work/log" | grep -F -- "$2" >/dev/null || fail "$1: it does not say $2"
}
says tests -DPHOTON_BUILD_TESTS=OFF "${hidden[@]}"
says examples -DPHOTON_BUILD_EXAMPLES=OFF -DPHOTON_BUILD_TESTS=OFF \
  -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON
echo "make install and make demo ask for what they build"
