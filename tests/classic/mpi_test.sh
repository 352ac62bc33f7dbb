#!/usr/bin/env bash
# A classic program whose job MPI forms, with one of the MPIs that Debian has side by side.
#   mpi_test.sh <mpich|openmpi> <source folder> <build folder>        77: it is not installed
set -euo pipefail
flavour=$1 source=$2 build=$3

if ! command -v "mpicc.$flavour" >/dev/null || ! command -v "mpirun.$flavour" >/dev/null; then
  echo "skipped: no $flavour here (scripts/install-deps test)"
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compile() {  # program, source files
  local program=$1
  shift
  "mpicc.$flavour" -std=gnu11 -O1 -Wall -Wextra "${@/#/$source/tests/classic/}" \
    -o "$work/$program" -I"$source/include/compat" \
    -L"$build/lib" -Wl,-rpath,"$build/lib" -lphoton -pthread
}
compile mpi_ring mpi_ring.c
compile careless careless.c careless_mpi.c

# More ranks than cores, and as root, as in a container.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
run() { timeout -k 5 200 "mpirun.$flavour" "$@" | tee "$work/output"; }

run -n 3 "$work/mpi_ring"
[[ $(grep -c 'of 3 went round' "$work/output") == 3 ]]

# What careless programs rely on; tests/process/careless_test.cpp has more of them.
careless() {  # transport, mode
  PHOTON_TRANSPORT=$1 run -n 4 "$work/careless" "$2" 80 1 64 193 4096 65536 4194304
  [[ $(grep -c 'bytes are right' "$work/output") == 4 ]]
}
careless shm serial
careless tcp threads
