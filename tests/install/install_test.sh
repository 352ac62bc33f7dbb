#!/usr/bin/env bash
# Installs into a fresh prefix, moves it, builds and runs consumers (CMake, pkg-config; C, C++),
# against the static library as well, where the build has it.
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
  awk '$2 != "A" && $3 !~ /^(ph|photon|RVMA)_/ {print $3}')
if [[ -n $leaks ]]; then
  echo "symbols that should be hidden: $leaks"
  exit 1
fi

export CC=$cc CXX=$cxx
quietly "$cmake" -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix"
quietly "$cmake" --build "$work/build"
"$work/build/consumer_c"
"$work/build/consumer_cpp"
"$work/build/consumer_task"

export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir
[[ $(pkg-config --modversion photon) == 0.1.* ]]
read -ra flags <<<"$(pkg-config --cflags --libs photon)"
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror "$here/consumer.c" -o "$work/c" "${flags[@]}"
"$cxx" -std=c++20 -Wall -Wextra -Werror "$here/consumer.cpp" -o "$work/cpp" "${flags[@]}"
read -ra task_flags <<<"$(pkg-config --cflags --libs photon_task)"
"$cxx" -std=c++20 -Wall -Wextra -Wpedantic -Werror "$here/consumer_task.cpp" -o "$work/task" \
  "${task_flags[@]}"
read -ra converse_flags <<<"$(pkg-config --cflags --libs photon_converse)"
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror "$here/../converse/programs/hello.c" \
  -o "$work/converse" "${converse_flags[@]}"
"$work/c"
"$work/cpp"
"$work/task"
"$work/prefix/bin/photonrun" -n 2 --timeout 60 "$work/converse" +ppn 2

# Programs of MPI, for each that the build knows; they are linked with Photon and not preloaded.
cached() {
  sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
for pc in "$libdir"/pkgconfig/photon_mpi-*.pc; do
  [[ -f $pc ]] || { echo "programs of MPI are SKIPPED: this build has none"; continue; }
  abi=${pc##*/photon_mpi-} abi=${abi%.pc}
  mpicc=$(cached "PHOTON_MPICC_$abi") mpiexec=$(cached "PHOTON_MPIEXEC_$abi")
  read -ra mpi_flags <<<"$(pkg-config --cflags --libs "photon_mpi-$abi")"
  "$mpicc" -std=gnu11 -Wall -Wextra -Werror "$here/../../examples/mpi_tickets/mpi_tickets.c" \
    -o "$work/tickets-$abi" "${mpi_flags[@]}"
  quietly "$mpiexec" -n 2 "$work/tickets-$abi" </dev/null
  grep -q "1 ranks drew 1000 tickets" "$work/log" || { cat "$work/log"; exit 1; }
  ! grep "MPI's own" "$work/log" || exit 1
  "$mpicc" -std=c11 -Wpedantic -Werror "${mpi_flags[@]}" -fsyntax-only -x c \
    "$work/prefix/include/photon/photon_mpi.h"
  "$work/build/consumer_mpi-$abi"
done

# Programs of libphoton 1.1.
for standard in c11 gnu99; do
  "$cc" -std=$standard -Wall -Wextra -Werror "$here/classic.c" -o "$work/classic" "${flags[@]}"
  "$work/classic"
done
"$cxx" -std=c++11 -Wall -Wextra -Werror "$here/classic.cpp" -o "$work/classic" "${flags[@]}"
"$work/classic"

# Those of the static library: what it defines, what it links, and a job of two ranks that prove to
# each other who they are. -lphoton is the shared library where both lie and nothing else is said.
prints() {
  "${@:2}" >"$work/log" 2>&1 && grep -Fq "$1" "$work/log" || { cat "$work/log"; exit 1; }
}
static_consumers() {
  local -a all_flags without
  local program
  leaks=$(nm -g --defined-only "$libdir/libphoton.a" |
    awk 'NF == 3 && $3 !~ /^(ph|photon|RVMA)_/ {print $3}')
  if [[ -n $leaks ]]; then
    echo "symbols of libphoton.a that should be local: $leaks"
    exit 1
  fi
  read -ra all_flags <<<"$(pkg-config --cflags --libs --static photon)"
  without=("${all_flags[@]/#-lphoton/-l:libphoton.a}")
  "$cc" -std=c11 "$here/consumer.c" -o "$work/part" "${without[@]}"
  "$cc" -std=c11 "$here/classic.c" -o "$work/classic_part" "${without[@]}"
  # The C library warns of what its static programs cannot do.
  quietly "$cc" -static -std=c11 "$here/consumer.c" -o "$work/whole" "${all_flags[@]}"
  quietly "$cc" -static -std=gnu99 "$here/classic.c" -o "$work/classic_whole" "${all_flags[@]}"
  quietly "$cc" -static "$here/../../examples/hello/hello.c" -o "$work/hello" "${all_flags[@]}"
  for program in "$work/build/consumer_static" part classic_part whole classic_whole; do
    [[ $program == /* ]] || program=$work/$program
    if ldd "$program" 2>/dev/null | grep libphoton >/dev/null; then
      echo "$program loads the shared library"
      exit 1
    fi
    env -u LD_LIBRARY_PATH "$program"
  done
  local -a run=("$work/prefix/bin/photonrun" -n 2 --timeout 60)
  for transport in shm tcp; do
    PHOTON_TRANSPORT=$transport prints "hello from rank 0" "${run[@]}" "$work/hello"
  done
  # What a static program of glibc cannot do is said in words.
  if PHOTON_TRANSPORT=ofi "${run[@]}" "$work/hello" >"$work/log" 2>&1; then
    echo "a static program has loaded libfabric"
    exit 1
  fi
  if [[ -f $build/src/CMakeFiles/photon_layer_transport_ofi.dir/transport/ofi/fabric.cpp.o ]]; then
    grep -Fq "linked statically" "$work/log" || { cat "$work/log"; exit 1; }
  fi
}
if [[ -f $libdir/libphoton.a ]]; then
  static_consumers
else
  echo "the static library is SKIPPED: this build has none (PHOTON_BUILD_STATIC)"
fi

# Every public header stands alone, in C and in C++; that of MPI was compiled above.
rm -f "$work/prefix/include/photon/photon_mpi.h"
for header in "$work"/prefix/include/photon/*.h; do
  "$cc" -std=c11 -Wpedantic -Werror "${flags[@]}" -fsyntax-only -x c "$header"
done
for header in "$work"/prefix/include/photon/*.h{,pp}; do
  [[ -f $header ]] || continue
  "$cxx" -std=c++20 -Wpedantic -Werror "${flags[@]}" -fsyntax-only -x c++ "$header"
done
echo "installed tree works with CMake and pkg-config, in C and C++"
