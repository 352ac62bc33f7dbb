/*
 * A random program from a seed: several windows of several communicators and kinds of memory, in
 * rounds of one kind of epoch each. At the end rank 0 prints digests: for each rank of each field
 * of its windows and of what it has fetched in each round. Two MPIs have to print the same.
 *
 *   random_ops ours|plain SEED ROUNDS
 *
 * A window is made of fields. In each round all that is done to one field, by whatever origins, is
 * of one kind: accumulates of one commutative operation and one type; one put; gets; or fetches of
 * one constant, of which the sum alone is known.
 */
#include "layouts.h"

enum { kWindows = 3, kFields = 12, kFieldBytes = 512, kBytes = kFields * kFieldBytes };

enum { kMostRounds = 64, kDigests = kWindows * kFields + kMostRounds };

enum {
  kSpan = 62
}; /* elements of 8 bytes that are used of a field, so that places may begin late */

struct field_window {
  struct window window;
  MPI_Comm comm;
  int rank, size; /* of comm */
};

static struct field_window windows[kWindows];
/* Of a round: nothing of it is used again before the epoch ends. */
static unsigned char origin_memory[kWindows * kMostRanks * kFields][kFieldBytes];
static unsigned char result_memory[kWindows * kMostRanks * kFields][kFieldBytes];
static unsigned char dropped_memory[kWindows * kMostRanks * kFields][kFieldBytes];
static uint64_t fetched_sum;
static uint64_t digests[kDigests]; /* of the fields, then of what the rounds have fetched */
static int rounds;

static uint64_t digest_of(const void* memory, size_t size) {
  const unsigned char* bytes = memory;
  uint64_t digest = 14695981039346656037u;
  for (size_t i = 0; i < size; ++i) digest = (digest ^ bytes[i]) * 1099511628211u;
  return digest;
}

static void fill(unsigned char* memory, size_t size, unsigned salt) {
  for (size_t i = 0; i < size; ++i) {
    salt = salt * 1103515245u + 12345u;
    memory[i] = (unsigned char)(salt >> 16);
  }
}

static MPI_Datatype draw_type(void) {
  const MPI_Datatype types[] = {MPI_UINT8_T,  MPI_INT8_T,  MPI_UINT16_T, MPI_INT16_T,  MPI_UINT32_T,
                                MPI_UINT32_T, MPI_INT32_T, MPI_UINT64_T, MPI_UINT64_T, MPI_INT64_T};
  return types[draw(sizeof types / sizeof *types)];
}

/* Sums and products of unsigned types alone: others have no value beyond their range. And only what
 * all MPIs agree on: MPICH 4.0 looks for the least and the greatest of unsigned elements as if they
 * were signed, and Open MPI 4.1 adds those of 8 and 16 bits up to a limit. */
static MPI_Op draw_op(MPI_Datatype type) {
  const MPI_Op ops[] = {MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MIN, MPI_MAX, MPI_SUM, MPI_SUM, MPI_PROD};
  if (type == MPI_UINT8_T || type == MPI_UINT16_T) return ops[draw(3)];
  if (type == MPI_INT8_T || type == MPI_INT16_T || type == MPI_INT32_T || type == MPI_INT64_T)
    return ops[draw(5)];
  const int drawn = draw(6);
  return ops[drawn > 2 ? drawn + 2 : drawn];
}

struct call {
  int target, origin, index; /* of the buffers of the round */
  int elements;
  MPI_Aint at;
  struct layout here, there;
  MPI_Datatype basic;
  MPI_Op op;
  MPI_Win win;
};

static void issue_accumulate(const struct call* call) {
  unsigned char* sent = origin_memory[call->index];
  fill(sent, kFieldBytes, (unsigned)random_state);
  if (draw(4) != 0) {
    MPI_Accumulate(sent, call->here.count, call->here.type, call->target, call->at,
                   call->there.count, call->there.type, call->op, call->win);
    return;
  }
  /* What it fetches depends on who came first. */
  unsigned char* dropped = dropped_memory[call->index];
  MPI_Get_accumulate(sent, call->here.count, call->here.type, dropped, call->here.count,
                     call->here.type, call->target, call->at, call->there.count, call->there.type,
                     call->op, call->win);
}

static void issue_get(const struct call* call) {
  unsigned char* result = result_memory[call->index];
  if (draw(2) == 0)
    MPI_Get(result, call->here.count, call->here.type, call->target, call->at, call->there.count,
            call->there.type, call->win);
  else
    MPI_Get_accumulate(NULL, 0, MPI_BYTE, result, call->here.count, call->here.type, call->target,
                       call->at, call->there.count, call->there.type, MPI_NO_OP, call->win);
}

/* So that origins that do nothing draw as often as those that do. */
static void draw_as_if(int kind) {
  if (kind < 3) draw(kind == 2 ? 2 : 4);
}

enum { kAccumulates, kOnePut, kGets, kTickets };

/* All of a round that is done to one field of one target of a window. */
static void draw_field(int number, int target, int field, MPI_Op* field_op) {
  struct field_window* of = &windows[number];
  const int kind = draw(5) % 4;
  const MPI_Datatype basic = kind == kTickets ? MPI_UINT64_T : draw_type();
  const int elements = 1 + draw(30), writer = draw(of->size);
  int size;
  *field_op = draw_op(basic);
  MPI_Type_size(basic, &size);
  const int late = draw(2) * 2;
  for (int origin = 0; origin < of->size; ++origin) {
    struct call call = {.target = target, .origin = origin, .elements = elements, .basic = basic};
    call.here = draw_layout(basic, elements, kSpan);
    call.there = draw_layout(basic, elements, kSpan);
    call.op = *field_op;
    call.win = of->window.win;
    call.index = (number * kMostRanks + target) * kFields + field;
    call.at = (field * kFieldBytes + late * size) / 8;
    const int acts = draw(3) != 0 && (kind != kOnePut || origin == writer);
    const uint64_t before = random_state;
    if (acts && origin == of->rank) {
      if (kind == kAccumulates) issue_accumulate(&call);
      if (kind == kGets) issue_get(&call);
      if (kind == kOnePut) {
        fill(origin_memory[call.index], kFieldBytes, (unsigned)before);
        MPI_Put(origin_memory[call.index], call.here.count, call.here.type, target, call.at,
                call.there.count, call.there.type, call.win);
      }
      if (kind == kTickets) {
        uint64_t* ticket = (uint64_t*)origin_memory[call.index];
        ticket[0] = 3;
        MPI_Fetch_and_op(ticket, &ticket[1], basic, target, call.at, MPI_SUM, call.win);
      }
    }
    random_state = before;
    draw_as_if(kind);
    MPI_Type_free(&call.here.type);
    MPI_Type_free(&call.there.type);
  }
}

static void draw_fields(int number) {
  for (int target = 0; target < windows[number].size; ++target)
    for (int field = 0; field < kFields; ++field) {
      MPI_Op op;
      draw_field(number, target, field, &op);
    }
}

enum { kFence, kPost, kExclusive, kShared, kAll, kEpochs };

/* Exclusive and shared epochs have one target after the other, the others all at once. */
static void run_epoch(int number, int epoch) {
  struct field_window* of = &windows[number];
  const MPI_Win win = of->window.win;
  MPI_Group group;
  switch (epoch) {
    case kFence:
      MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
      draw_fields(number);
      MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
      break;
    case kPost:
      MPI_Win_get_group(win, &group);
      MPI_Win_post(group, 0, win);
      MPI_Win_start(group, 0, win);
      draw_fields(number);
      MPI_Win_complete(win);
      MPI_Win_wait(win);
      MPI_Group_free(&group);
      break;
    case kAll:
      MPI_Win_lock_all(0, win);
      draw_fields(number);
      MPI_Win_flush_all(win);
      MPI_Win_unlock_all(win);
      break;
    default:
      for (int target = 0; target < of->size; ++target) {
        MPI_Win_lock(epoch == kExclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, win);
        for (int field = 0; field < kFields; ++field) {
          MPI_Op op;
          draw_field(number, target, field, &op);
        }
        MPI_Win_unlock(target, win);
      }
  }
}

static void take_results(int round) {
  digests[kWindows * kFields + round] = digest_of(result_memory, sizeof result_memory);
  for (size_t i = 0; i < sizeof origin_memory / sizeof *origin_memory; ++i) {
    const uint64_t* ticket = (const uint64_t*)origin_memory[i];
    if (ticket[0] == 3) fetched_sum += ticket[1];
  }
}

/* One round: its epochs may be open at the same time on different windows only if they do not wait
 * for each other, so they come one after the other. */
static void run_round(int round) {
  memset(origin_memory, 0, sizeof origin_memory);
  memset(result_memory, 0, sizeof result_memory);
  for (int number = 0; number < kWindows; ++number) {
    /* A half of the ranks must not draw less than the other. */
    seed_random(random_state + (uint64_t)round);
    const uint64_t before = random_state;
    const int epoch = draw(kEpochs);
    at_step("round %d, window %d, epoch %d", round, number, epoch);
    run_epoch(number, epoch);
    random_state = before + 1;
    MPI_Barrier(windows[number].comm);
  }
  take_results(round);
}

static void open_windows(void) {
  for (int number = 0; number < kWindows; ++number) {
    struct field_window* of = &windows[number];
    /* The world, halves of it by turns, and the world in another order. */
    const int color = number == 1 && ranks >= 4 ? my_rank % 2 : 0;
    MPI_Comm_split(MPI_COMM_WORLD, color, number == 2 ? -my_rank : my_rank, &of->comm);
    MPI_Comm_rank(of->comm, &of->rank);
    MPI_Comm_size(of->comm, &of->size);
    of->window.kind = (enum memory_kind)draw(kMalloc + 1);
    of->window.unit = 8;
    of->window.size = kBytes;
    open_window(&of->window, of->comm, MPI_INFO_NULL);
    lock_own(of->window.win, of->rank);
    fill(of->window.base, kBytes, (unsigned)(number * 100 + my_rank));
    unlock_own(of->window.win, of->rank);
    MPI_Barrier(of->comm);
  }
}

static void close_windows(void) {
  for (int number = 0; number < kWindows; ++number) {
    struct field_window* of = &windows[number];
    lock_own(of->window.win, of->rank);
    for (int field = 0; field < kFields; ++field)
      digests[number * kFields + field] =
          digest_of(of->window.base + field * kFieldBytes, kFieldBytes);
    unlock_own(of->window.win, of->rank);
    close_window(&of->window);
    MPI_Comm_free(&of->comm);
  }
}

static void print_digests(void) {
  static uint64_t all[kMostRanks][kDigests];
  uint64_t sum = 0;
  MPI_Gather(digests, kDigests, MPI_UINT64_T, all, kDigests, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  MPI_Reduce(&fetched_sum, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (my_rank != 0) return;
  for (int rank = 0; rank < ranks; ++rank) {
    for (int i = 0; i < kWindows * kFields; ++i)
      printf("rank %d window %d field %d: %016" PRIx64 "\n", rank, i / kFields, i % kFields,
             all[rank][i]);
    for (int i = 0; i < rounds; ++i)
      printf("rank %d fetched in round %d: %016" PRIx64 "\n", rank, i,
             all[rank][kWindows * kFields + i]);
  }
  printf("tickets: %016" PRIx64 "\n", sum);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  case_name = "random_ops";
  if (argc != 4 || ranks > kMostRanks) fail("usage: %s ours|plain SEED ROUNDS", argv[0]);
  is_ours = strcmp(argv[1], "ours") == 0;
  find_hosts();
  check_windows_are_ours();
  rounds = atoi(argv[3]);
  if (rounds > kMostRounds) fail("at most %d rounds", kMostRounds);
  seed_random(strtoull(argv[2], NULL, 10));
  open_windows();
  for (int round = 0; round < rounds; ++round) run_round(round);
  close_windows();
  print_digests();
  MPI_Finalize();
  return 0;
}
