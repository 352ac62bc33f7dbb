/*
 * Active messages of the program (MPIX_Am_*): what arrives, in which parts, and what handlers may
 * do. What is wrong with calls and handlers stands in am_errors.c.
 */
#include "am.h"

/* ---- each call; each rank to each rank, itself as well */

struct told {
  int seed;
  int has_landing;
  MPI_Count bytes;
};
struct landed {
  struct told told;
  unsigned char* memory;
};
static long headers, payloads;

static int landed_whole(void* argument, const MPIX_Am_part* part) {
  struct landed* const one = argument;
  check_equal("error", MPI_SUCCESS, part->error);
  check_equal("is_last", 1, part->is_last);
  check_equal("offset", 0, part->offset);
  check_equal("bytes", one->told.bytes, part->bytes);
  check_true("where it lies", part->data == (one->told.bytes == 0 ? NULL : one->memory));
  check_pattern("payload", one->told.seed, one->memory, (size_t)one->told.bytes);
  free(one->memory);
  free(one);
  ++payloads;
  return MPI_SUCCESS;
}
static int name_landing(void* user, const MPIX_Am_message* message, MPIX_Am_landing* landing) {
  struct landed* const one = must_have(malloc(sizeof *one));
  check_true("user", user == &headers);
  check_true("alignment", (uintptr_t)message->immediate % 8 == 0);
  check_true("immediate data", message->immediate_bytes >= (int)sizeof one->told);
  memcpy(&one->told, message->immediate, sizeof one->told);
  check_equal("source", message->source, one->told.seed / 100);
  check_equal("payload bytes", one->told.bytes, message->payload_bytes);
  check_pattern("immediate data", one->told.seed,
                (const unsigned char*)message->immediate + sizeof one->told,
                (size_t)message->immediate_bytes - sizeof one->told);
  ++headers;
  if (!one->told.has_landing) {
    free(one);
    return MPI_SUCCESS;
  }
  one->memory = must_have(malloc((size_t)message->payload_bytes + 1));
  landing->buffer = one->memory;
  landing->count = message->payload_bytes + 1;
  landing->comp_handler = landed_whole;
  landing->argument = one;
  return MPI_SUCCESS;
}

static void run_calls(void) {
  const size_t sizes[] = {0, 1, 48, 1000, 32 << 10, (32 << 10) + 1, kLarge};
  const int count = (int)(sizeof sizes / sizeof *sizes);
  unsigned char immediate[MPIX_AM_IMMEDIATE_BYTES];
  long expected = 0;
  headers = payloads = 0; /* others may send as soon as they have joined */
  MPIX_Am am = join(name_landing, &headers, 4, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i)
    for (int target = 0; target < ranks; ++target)
      for (int lands = 0; lands < 2; ++lands) {
        const int more = i % 2 == 0 ? 0 : MPIX_AM_IMMEDIATE_BYTES - (int)sizeof(struct told);
        const struct told told = {my_rank * 100 + i, lands, (MPI_Count)sizes[i]};
        unsigned char* const payload = payload_of(told.seed, sizes[i]);
        memcpy(immediate, &told, sizeof told);
        for (int k = 0; k < more; ++k)
          immediate[(int)sizeof told + k] = pattern(told.seed, (size_t)k);
        send_to(target, part_of(immediate, sizeof told + (size_t)more), part_of(payload, sizes[i]),
                am);
        memset(payload, 0, sizes[i]); /* it may be used again */
        memset(immediate, 0, sizeof immediate);
        free(payload);
      }
  check_good("nobody", MPIX_Am_send(NULL, 0, NULL, 0, MPI_BYTE, MPI_PROC_NULL, am));
  settle();
  expected = 2L * count * ranks;
  check_equal("header handlers", expected, headers);
  check_equal("completion handlers", expected / 2, payloads);
  leave(&am);
}

/* ---- the target computes, and calls nothing */

static volatile int has_come;
static int come_whole(void* argument, const MPIX_Am_part* part) {
  check_equal("error", MPI_SUCCESS, part->error);
  check_pattern("payload", 5, argument, (size_t)part->bytes);
  has_come = 1;
  return MPI_SUCCESS;
}
static int name_buffer(void* user, const MPIX_Am_message* message, MPIX_Am_landing* landing) {
  landing->buffer = user;
  landing->count = message->payload_bytes;
  landing->comp_handler = come_whole;
  landing->argument = user;
  return MPI_SUCCESS;
}
static void run_computing(void) {
  unsigned char* const buffer = must_have(malloc(kLarge));
  unsigned char* const payload = payload_of(5, kLarge);
  MPIX_Am am = join(name_buffer, buffer, 0, MPI_COMM_WORLD);
  for (int bytes = 100; bytes <= kLarge; bytes += kLarge - 100) {
    has_come = 0;
    meet();
    if (my_rank == 0) send_to(ranks - 1, none, part_of(payload, (size_t)bytes), am);
    if (my_rank == ranks - 1) await_word(&has_come);
    settle();
  }
  leave(&am);
  free(payload);
  free(buffer);
}

/* ---- parts: those behind are there, or not yet, while one is handled */

enum { kParts = 48, kPartBytes = 64 << 10 };
static long parts_told, ahead_most, ahead_first;
static unsigned char* parts_memory;

static int count_part(void* argument, const MPIX_Am_part* part) {
  const int number = (int)(part->offset / kPartBytes);
  long ahead = 0;
  (void)argument;
  check_equal("error", MPI_SUCCESS, part->error);
  check_equal("its turn", parts_told, number);
  check_equal("bytes", kPartBytes, part->bytes);
  check_equal("is_last", number == kParts - 1, part->is_last);
  check_true("where it lies", part->data == parts_memory + part->offset);
  for (int i = 0; i < kPartBytes; ++i)
    if (parts_memory[part->offset + i] != number + 1) fail("part %d, byte %d", number, i);
  for (int i = number + 1; i < kParts; ++i)
    ahead += *(volatile unsigned char*)&parts_memory[(size_t)i * kPartBytes] != 0;
  if (number == 0) ahead_first = ahead;
  if (ahead > ahead_most) ahead_most = ahead;
  ++parts_told;
  return MPI_SUCCESS;
}
static int name_parts(void* user, const MPIX_Am_message* message, MPIX_Am_landing* landing) {
  (void)user;
  landing->buffer = parts_memory;
  landing->count = message->payload_bytes;
  landing->chunk_bytes = kPartBytes;
  landing->comp_handler = count_part;
  return MPI_SUCCESS;
}
static void run_parts(void) {
  unsigned char* const payload = must_have(malloc((size_t)kParts * kPartBytes));
  MPIX_Am am = join(name_parts, NULL, 1, MPI_COMM_WORLD);
  parts_memory = must_have(calloc(kParts, kPartBytes));
  for (int i = 0; i < kParts; ++i) memset(payload + (size_t)i * kPartBytes, i + 1, kPartBytes);
  parts_told = ahead_most = 0;
  ahead_first = kParts;
  meet();
  if (my_rank == 0) send_to(ranks - 1, none, part_of(payload, (size_t)kParts * kPartBytes), am);
  settle();
  if (my_rank == ranks - 1) {
    check_equal("parts", kParts, parts_told);
    check_true("the first part is handled before the last has come", ahead_first < kParts - 1);
    check_true("others have come while one is handled", ahead_most > 0);
  }
  leave(&am);
  free(parts_memory);
  free(payload);
}

/* ---- handlers that send, and quiescence */

struct hop {
  int left; /* hops */
  int first;
  int bytes;
};
static MPIX_Am hopping;
static long hops;
static unsigned char* hop_payload;

static void hop_on(const struct hop* from) {
  const struct hop next = {from->left - 1, from->first, from->bytes};
  const int fan = from->left % 3 == 0 ? 2 : 1;
  if (from->left == 0) return;
  for (int i = 0; i < fan; ++i)
    send_to((my_rank + 1 + i * from->first) % ranks, part_of(&next, sizeof next),
            part_of(hop_payload, (size_t)from->bytes), hopping);
}
static int hop_landed(void* argument, const MPIX_Am_part* part) {
  struct hop* const one = argument;
  check_equal("error", MPI_SUCCESS, part->error);
  hop_on(one);
  free(one);
  return MPI_SUCCESS;
}
static int hop_arrives(void* user, const MPIX_Am_message* message, MPIX_Am_landing* landing) {
  static unsigned char sink[200 << 10];
  struct hop* const one = must_have(malloc(sizeof *one));
  check_equal("immediate bytes", (int)sizeof *one, message->immediate_bytes);
  memcpy(one, message->immediate, sizeof *one);
  check_equal("bytes", one->bytes, message->payload_bytes);
  (void)user;
  ++hops;
  landing->buffer = sink;
  landing->count = sizeof sink;
  landing->comp_handler = hop_landed;
  landing->argument = one;
  return MPI_SUCCESS;
}
static long hops_of(int left) {
  return left == 0 ? 1 : 1 + (left % 3 == 0 ? 2 : 1) * hops_of(left - 1);
}
static void run_hops(void) {
  const int sizes[] = {0, 500, 150 << 10};
  hop_payload = payload_of(1, 200 << 10);
  hopping = join(hop_arrives, NULL, 2, MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) {
    const struct hop first = {12, my_rank, sizes[i]};
    long all = 0;
    at_step("payloads of %d bytes", sizes[i]);
    hops = 0;
    meet();
    send_to((my_rank + 1) % ranks, part_of(&first, sizeof first),
            part_of(hop_payload, (size_t)sizes[i]), hopping);
    settle();
    MPI_Allreduce(&hops, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    check_equal("all hops", ranks * hops_of(12), all);
  }
  leave(&hopping);
  free(hop_payload);
}

/* Many at once, so that senders have to wait for room. */
static long flooded;
static int flood_arrives(void* user, const MPIX_Am_message* message, MPIX_Am_landing* landing) {
  (void)user;
  (void)landing;
  flooded += message->payload_bytes;
  return MPI_SUCCESS;
}
static void run_flood(void) {
  enum { kMessages = 5000, kBytes = 600 };
  unsigned char payload[kBytes] = {1};
  MPIX_Am am = join(flood_arrives, NULL, 3, MPI_COMM_WORLD);
  flooded = 0;
  meet();
  for (int i = 0; i < kMessages; ++i)
    for (int target = 0; target < ranks; ++target)
      send_to(target, none, part_of(payload, kBytes), am);
  settle();
  check_equal("bytes", (long)kMessages * kBytes * ranks, flooded);
  leave(&am);
}

/* ---- communicators */

struct place {
  int rank, color;
};
static long met[2];
static int check_place(void* user, const MPIX_Am_message* message, MPIX_Am_landing* landing) {
  const struct place* const from = message->immediate;
  (void)landing;
  check_equal("source", from->rank, message->source);
  check_equal("communicator", from->color, *(int*)user);
  ++met[from->color];
  return MPI_SUCCESS;
}
static void run_communicators(void) {
  MPI_Comm half, reversed;
  MPIX_Am ams[2];
  int colors[2] = {0, 1};
  int size = 0;
  struct place place = {0, 0};
  met[0] = met[1] = 0;
  MPI_Comm_split(MPI_COMM_WORLD, my_rank % 2, my_rank, &half);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -my_rank, &reversed);
  ams[0] = join(check_place, &colors[0], 6, half);
  ams[1] = join(check_place, &colors[1], 6, reversed);
  for (int i = 0; i < 2; ++i) {
    const MPI_Comm comm = i == 0 ? half : reversed;
    MPI_Comm_rank(comm, &place.rank);
    MPI_Comm_size(comm, &size);
    place.color = i;
    for (int target = 0; target < size; ++target)
      send_to(target, part_of(&place, sizeof place), none, ams[i]);
  }
  MPI_Comm_size(half, &size);
  check_good("MPIX_Am_quiesce", MPIX_Am_quiesce(half));
  check_equal("messages of a half", size, met[0]);
  MPI_Comm_free(&half); /* before its handler */
  leave(&ams[0]);
  leave(&ams[1]);
  check_equal("messages of all", ranks, met[1]);
  ams[0] = join(check_place, &colors[0], 6, reversed); /* the number is free again */
  MPI_Comm_rank(reversed, &place.rank);
  place.color = 0;
  send_to(0, part_of(&place, sizeof place), none, ams[0]);
  MPI_Comm_free(&reversed);
  leave(&ams[0]);
  MPI_Comm_rank(MPI_COMM_WORLD, &place.rank);
  ams[0] = join(check_place, &colors[0], 6, MPI_COMM_SELF);
  place.rank = 0;
  send_to(0, part_of(&place, sizeof place), none, ams[0]);
  leave(&ams[0]);
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"calls", run_calls}, {"computing", run_computing},
                                    {"parts", run_parts}, {"hops", run_hops},
                                    {"flood", run_flood}, {"communicators", run_communicators},
                                    {NULL, NULL}};
  MPI_Init(&argc, &argv);
  return run_cases(argc, argv, cases);
}
