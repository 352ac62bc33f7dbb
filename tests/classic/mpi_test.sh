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
"mpicc.$flavour" -std=c11 -Wall -Wextra "$source/tests/classic/mpi_ring.c" -o "$work/mpi_ring" \
  -I"$source/include/compat" -L"$build/lib" -Wl,-rpath,"$build/lib" -lphoton

# More ranks than cores, and as root, as in a container.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
timeout -k 5 60 "mpirun.$flavour" -n 3 "$work/mpi_ring" | tee "$work/output"
[[ $(grep -c 'of 3 went round' "$work/output") == 3 ]]
