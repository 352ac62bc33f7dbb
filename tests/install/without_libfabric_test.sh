#!/usr/bin/env bash
# The library as a build without libfabric makes it, from the objects of this build and what alone
# is different: it configures, compiles and links so, programs run with it, and one that asks for
# transport ofi hears what is missing.
#   without_libfabric_test.sh <build folder> <cmake> <C++ compiler>
# Exit status 77: this build is one.
set -euo pipefail
build=$1 cmake=$2 cxx=$3
source=$(cd "$(dirname "$0")/../.." && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "$1"
  [[ -f $work/log ]] && cat "$work/log"
  exit 1
}
quietly() { "$@" >"$work/log" 2>&1 || fail "failed: $*"; }
# All of it is read: an `ar` whose reader has gone would fail.
is_in() { ar t "$build/lib/libphoton_internal.a" | grep -Fx "$1" >/dev/null; }

is_in fabric.cpp.o || { echo "this build has no libfabric"; exit 77; }

quietly "$cmake" -S "$source" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_BUILD_TYPE=Debug -DPHOTON_WERROR=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  -DPHOTON_BUILD_TESTS=OFF -DPHOTON_WITH_OFI=OFF
compiles() { grep -Fq "\"file\": \"$source/$1\"" "$work/build/compile_commands.json"; }

for file in src/transport/ofi/no_fabric.cpp tools/photon-perf/no_limit_fabric.cpp; do
  compiles "$file" || fail "without libfabric $file is not compiled"
  quietly "$cmake" --build "$work/build" --target "$source/$file^"
done
cp "$build/lib/libphoton_internal.a" "$work/rest.a"
left_out=()
for file in "$source"/src/transport/ofi/*.cpp; do
  compiles "${file#"$source"/}" || left_out+=("$(basename "$file").o")
done
((${#left_out[@]})) || fail "without libfabric all of transport ofi is compiled"
ar d "$work/rest.a" "${left_out[@]}"
# As src/CMakeLists.txt links it.
crypto=()
if is_in hmac_proof.cpp.o; then crypto=(-lcrypto); fi
quietly "$cxx" -shared -fno-lto -o "$work/libphoton.so.0" \
  "$work"/build/src/CMakeFiles/photon_layer_transport_ofi.dir/transport/ofi/no_fabric.cpp.o \
  -Wl,--whole-archive "$work/rest.a" -Wl,--no-whole-archive \
  -Wl,-soname,libphoton.so.0 -Wl,--version-script="$source/cmake/photon.map" \
  -Wl,--no-undefined -pthread -ldl "${crypto[@]}"

export LD_LIBRARY_PATH=$work
run=("$build/bin/photonrun" -n 2 --timeout 20)
says() { grep -Fq "$1" "$work/log" || fail "it does not say: $1"; }
quietly "$build/bin/photon-info"
says "ofi   not usable: "
says "built without libfabric"
for transport in shm auto; do
  PHOTON_TRANSPORT=$transport quietly "${run[@]}" "$build/examples/hello"
done
for asked in PHOTON_TRANSPORT=ofi "PHOTON_TRANSPORT=mixed PHOTON_NETWORK=ofi"; do
  # shellcheck disable=SC2086
  if env $asked "${run[@]}" "$build/examples/hello" >"$work/log" 2>&1; then
    fail "$asked: it starts without libfabric"
  fi
  says "this library was built without libfabric"
  says "install libfabric-dev (1.17 or later) and build again, or choose another transport"
done
echo "without libfabric it builds and runs, and says what is missing (left out: ${left_out[*]})"
