/* A classic program that lets MPI form the job: registered memory, keys by MPI, a ring of puts. */
#include <mpi.h>
#include <photon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kWords = 1000 };

static int fail(int rank, const char* what) {
  fprintf(stderr, "rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  return 1;
}

static photon_cid word(uint64_t value) {
  photon_cid id;
  memset(&id, 0, sizeof id);
  id.u64 = value;
  return id;
}

static uint64_t take(int flags) {
  int flag = 0;
  photon_cid id = word(0);
  while (!flag) photon_probe_completion(PHOTON_ANY_SOURCE, &flag, NULL, &id, NULL, NULL, flags);
  return id.u64;
}

static int put_around(int rank, int size) {
  uint64_t* words = calloc(2 * kWords, sizeof *words);
  const uint64_t bytes = kWords * sizeof *words;
  const struct photon_buffer_priv_t* keys = NULL;
  struct photon_buffer_t mine, *all = calloc((size_t)size, sizeof *all);
  struct photon_buffer_t from;
  if (photon_register_buffer(words, 2 * bytes) != PHOTON_OK) return fail(rank, "register");
  if (photon_get_buffer_private(words, 2 * bytes, &keys) != PHOTON_OK) return fail(rank, "keys");
  mine.addr = (uintptr_t)(words + kWords);
  mine.size = bytes;
  mine.priv = *keys;
  MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  for (int i = 0; i < kWords; ++i) words[i] = (uint64_t)(rank * kWords + i);
  from = mine;
  from.addr = (uintptr_t)words;
  if (photon_put_with_completion((rank + 1) % size, bytes, &from, &all[(rank + 1) % size], word(7),
                                 word((uint64_t)rank), 0) != PHOTON_OK)
    return fail(rank, "put");
  const int left = (rank + size - 1) % size;
  if (take(PHOTON_PROBE_LEDGER) != (uint64_t)left) return fail(rank, "a wrong remote id");
  if (take(PHOTON_PROBE_EVQ) != 7) return fail(rank, "a wrong local id");
  for (int i = 0; i < kWords; ++i)
    if (words[kWords + i] != (uint64_t)(left * kWords + i)) return fail(rank, "wrong bytes");
  MPI_Barrier(MPI_COMM_WORLD);
  if (photon_unregister_buffer(words, 2 * bytes) != PHOTON_OK) return fail(rank, "unregister");
  free(words);
  free(all);
  return 0;
}

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  struct photon_config_t config;
  memset(&config, 0x3c, sizeof config);
  memset(&config.cap, 0, sizeof config.cap);
  config.meta_exch = PHOTON_EXCH_MPI;
  config.backend = PHOTON_BACKEND_DEFAULT;
  if (photon_init(&config) != PHOTON_ERROR) return fail(0, "init before MPI_Init");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (photon_init(&config) != PHOTON_OK) return fail(rank, "init");
  if (config.address != rank || config.nproc != size) return fail(rank, "wrong rank or size");
  put_around(rank, size);
  if (photon_finalize() != PHOTON_OK) return fail(rank, "finalize");
  MPI_Finalize();
  printf("rank %d of %d went round\n", rank, size);
  return 0;
}
