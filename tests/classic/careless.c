/*
 * A classic program as careless ones are: it looks at no status, not even photon_init()'s, which it
 * calls twice, and it never calls photon_finalize(). Every rank puts to every other, and does not
 * end before every byte that its peers have put stands in its memory.
 *
 *   careless MODE COUNT SIZE...        so many puts of each size to each rank; of large ones fewer
 *
 * MODE says what it probes for:
 *
 *   serial    the local id of each put before the next, from the same memory; no remote id
 *   flood     all puts, then their local ids; no remote id
 *   ledger    all puts, then the remote ids; no local id
 *   any       whatever there is, once after each put, then until all ids have come
 *   threads   one thread as `serial`, another for the remote ids
 *   pair      two threads, each half of the puts, of the local ids and of the remote ones
 *   blind     nothing at all
 */
#include "careless.h"

#include <photon.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostRanks = 16, kMostRounds = 16, kRoundBytes = 4 << 20 };

struct round {
  uint64_t size, count, offset; /* of its landing places, of which each peer has `count` */
};

static int rank, ranks;
static struct round rounds[kMostRounds];
static int rounds_count;
static uint64_t area_bytes; /* of one peer's landing places */
static unsigned char *landing, *sources;
static struct photon_buffer_t targets[kMostRanks]; /* the landing places of all ranks */

static photon_cid word(uint64_t value) {
  photon_cid id;
  memset(&id, 0, sizeof id);
  id.u64 = value;
  return id;
}

/* No byte is 0, as the landing places are at first, and no two puts are alike. */
static uint64_t seed_of(int from, int to, int round, uint64_t k) {
  uint64_t x = ((uint64_t)from << 48) ^ ((uint64_t)to << 40) ^ ((uint64_t)round << 32) ^ k;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  return (x ^ (x >> 27)) | 0x0101010101010101u;
}
static unsigned char byte_of(uint64_t seed, uint64_t i) {
  return (unsigned char)((seed >> i % 8 * 8) ^ (i / 8 % 128 * 2));
}

static int is_right(const unsigned char* bytes, uint64_t size, uint64_t seed) {
  for (uint64_t i = 0; i < size; ++i)
    if (bytes[i] != byte_of(seed, i)) return 0;
  return 1;
}

static unsigned char* place_of(int from, int round, uint64_t k) {
  return landing + (uint64_t)from * area_bytes + rounds[round].offset + k * rounds[round].size;
}

static void post(int to, int round, uint64_t k, unsigned char* source) {
  const uint64_t size = rounds[round].size, seed = seed_of(rank, to, round, k);
  struct photon_buffer_t from, target = targets[to];
  for (uint64_t i = 0; i < size; ++i) source[i] = byte_of(seed, i);
  memset(&from, 0, sizeof from);
  from.addr = (uintptr_t)source;
  from.size = size;
  target.addr += (uint64_t)rank * area_bytes + rounds[round].offset + k * size;
  target.size = size;
  photon_put_with_completion(to, size, &from, &target, word(k), word((uint64_t)round << 32 | k), 0);
}

/* Probes until so many have come. */
static void take(uint64_t count, int kinds) {
  while (count != 0) {
    int flag = 0;
    photon_probe_completion(PHOTON_ANY_SOURCE, &flag, NULL, NULL, NULL, NULL, kinds);
    if (flag) --count;
  }
}

static uint64_t puts_count(void) {
  uint64_t count = 0;
  for (int r = 0; r < rounds_count; ++r) count += rounds[r].count * (uint64_t)(ranks - 1);
  return count;
}

/* Calls `each` for every put of this rank, with the peers by turns. */
static void for_all(void (*each)(int to, int round, uint64_t k)) {
  for (int r = 0; r < rounds_count; ++r)
    for (uint64_t k = 0; k < rounds[r].count; ++k)
      for (int i = 1; i < ranks; ++i) each((rank + i) % ranks, r, k);
}

/* From memory of its own, which stays as it is. */
static void post_and_forget(int to, int round, uint64_t k) {
  post(to, round, k,
       sources + (uint64_t)to * area_bytes + rounds[round].offset + k * rounds[round].size);
}
static void post_and_take_local(int to, int round, uint64_t k) {
  post(to, round, k, sources);
  take(1, PHOTON_PROBE_EVQ);
}
static uint64_t seen; /* by probes of post_and_look() */
static void post_and_look(int to, int round, uint64_t k) {
  int flag = 0;
  post_and_forget(to, round, k);
  photon_probe_completion(PHOTON_ANY_SOURCE, &flag, NULL, NULL, NULL, NULL, PHOTON_PROBE_ANY);
  if (flag) ++seen;
}

static void* take_remotes(void* nothing) {
  take(puts_count(), PHOTON_PROBE_LEDGER);
  return nothing;
}

/* One of two that do the same: `which` is "0" or "1", and every second put is its own. */
static void* half(void* which) {
  const uint64_t mine = *(const char*)which == '1';
  uint64_t puts = 0;
  for (int r = 0; r < rounds_count; ++r)
    for (uint64_t k = mine; k < rounds[r].count; k += 2)
      for (int i = 1; i < ranks; ++i, ++puts) {
        post_and_forget((rank + i) % ranks, r, k);
        take(1, PHOTON_PROBE_EVQ); /* perhaps the other's */
      }
  take(puts, PHOTON_PROBE_LEDGER);
  return NULL;
}

static int move(const char* mode) {
  static char first[] = "0", second[] = "1";
  pthread_t other;
  if (strcmp(mode, "serial") == 0) {
    for_all(post_and_take_local);
  } else if (strcmp(mode, "flood") == 0) {
    for_all(post_and_forget);
    take(puts_count(), PHOTON_PROBE_EVQ);
  } else if (strcmp(mode, "ledger") == 0) {
    for_all(post_and_forget);
    take_remotes(NULL);
  } else if (strcmp(mode, "any") == 0) {
    for_all(post_and_look);
    take(2 * puts_count() - seen, PHOTON_PROBE_ANY);
  } else if (strcmp(mode, "threads") == 0) {
    pthread_create(&other, NULL, take_remotes, NULL);
    for_all(post_and_take_local);
    pthread_join(other, NULL);
  } else if (strcmp(mode, "pair") == 0) {
    pthread_create(&other, NULL, half, second);
    half(first);
    pthread_join(other, NULL);
  } else if (strcmp(mode, "blind") == 0) {
    for_all(post_and_forget);
  } else {
    return 0;
  }
  return 1;
}

/* Looks at memory alone until the last byte is there. */
static void await_bytes(void) {
  uint64_t bytes = 0;
  for (int from = 0; from < ranks; ++from)
    for (int r = 0; r < rounds_count && from != rank; ++r)
      for (uint64_t k = 0; k < rounds[r].count; ++k) {
        while (!is_right(place_of(from, r, k), rounds[r].size, seed_of(from, rank, r, k)))
          sched_yield();
        bytes += rounds[r].size;
      }
  printf("rank %d of %d: all %llu bytes are right\n", rank, ranks, (unsigned long long)bytes);
  fflush(stdout);
}

/* As programs do that have no MPI to send their keys: they announce their memory to each peer. */
static void meet(void) {
  photon_rid mine[kMostRanks], theirs;
  photon_register_buffer(landing, (uint64_t)ranks * area_bytes);
  for (int peer = 0; peer < ranks; ++peer)
    if (peer != rank)
      photon_post_recv_buffer_rdma(peer, landing, (uint64_t)ranks * area_bytes, 1, &mine[peer]);
  for (int peer = 0; peer < ranks; ++peer) {
    if (peer == rank) continue;
    photon_wait_recv_buffer_rdma(peer, PHOTON_ANY_SIZE, 1, &theirs);
    photon_get_buffer_remote(theirs, &targets[peer]);
    photon_send_FIN(theirs, peer, PHOTON_REQ_COMPLETED);
  }
  for (int peer = 0; peer < ranks; ++peer)
    if (peer != rank) photon_wait(mine[peer]);
}

static int plan(int argc, char** argv) {
  const uint64_t asked = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;
  for (int i = 3; i < argc && rounds_count < kMostRounds; ++i) {
    struct round* next = &rounds[rounds_count++];
    next->size = strtoull(argv[i], NULL, 10);
    if (next->size == 0) return 0;
    next->count = kRoundBytes / next->size < asked ? kRoundBytes / next->size : asked;
    next->offset = area_bytes;
    area_bytes += next->count * next->size;
  }
  return asked != 0;
}

int careless(int argc, char** argv, int meta_exch) {
  struct photon_config_t config;
  memset(&config, 0, sizeof config);
  config.meta_exch = meta_exch;
  photon_init(&config);
  photon_init(&config);
  rank = config.address;
  ranks = config.nproc;
  if (!plan(argc, argv) || ranks > kMostRanks) return 2;
  landing = calloc((size_t)ranks, area_bytes);
  sources = calloc((size_t)ranks, area_bytes);
  if (landing == NULL || sources == NULL) return 3;
  meet();
  if (!move(argv[1])) return 2;
  await_bytes();
  return 0;
}
