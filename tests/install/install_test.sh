#!/usr/bin/env bash
# Installs into a fresh prefix, moves it, builds and runs consumers (CMake, pkg-config; C, C++).
#   install_test.sh <build folder> <cmake> <C compiler> <C++ compiler>
set -euo pipefail
build=$1 cmake=$2 cc=$3 cxx=$4
here=$(cd "$(dirname "$0")" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

quietly() {
  "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}

quietly "$cmake" --install "$build" --prefix "$work/first"
mv "$work/first" "$work/prefix"
# The script finds its modules.
"$work/prefix/bin/photon-plot" --help >"$work/log" || { cat "$work/log"; exit 1; }
libdir=$(dirname "$(find "$work/prefix" -name libphoton.so)")

leaks=$(nm -D --defined-only "$libdir/libphoton.so" |
  awk '$2 != "A" && $3 !~ /^(ph|photon)_/ {print $3}')
if [[ -n $leaks ]]; then
  echo "symbols that should be hidden: $leaks"
  exit 1
fi

export CC=$cc CXX=$cxx
quietly "$cmake" -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix"
quietly "$cmake" --build "$work/build"
"$work/build/consumer_c"
"$work/build/consumer_cpp"

export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir
[[ $(pkg-config --modversion photon) == 0.1.* ]]
read -ra flags <<<"$(pkg-config --cflags --libs photon)"
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror "$here/consumer.c" -o "$work/c" "${flags[@]}"
"$cxx" -std=c++20 -Wall -Wextra -Werror "$here/consumer.cpp" -o "$work/cpp" "${flags[@]}"
"$work/c"
"$work/cpp"

# Programs of libphoton 1.x.
for standard in c11 gnu99; do
  "$cc" -std=$standard -Wall -Wextra -Werror "$here/classic.c" -o "$work/classic" "${flags[@]}"
  "$work/classic"
done
"$cxx" -std=c++11 -Wall -Wextra -Werror "$here/classic.cpp" -o "$work/classic" "${flags[@]}"
"$work/classic"

# Every public header stands alone, in C and in C++.
for header in "$work"/prefix/include/photon/*.h; do
  "$cc" -std=c11 -Wpedantic -Werror "${flags[@]}" -fsyntax-only -x c "$header"
done
for header in "$work"/prefix/include/photon/*.h{,pp}; do
  [[ -f $header ]] || continue
  "$cxx" -std=c++20 -Wpedantic -Werror "${flags[@]}" -fsyntax-only -x c++ "$header"
done
echo "installed tree works with CMake and pkg-config, in C and C++"
