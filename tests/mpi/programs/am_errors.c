/*
 * What is wrong with calls of active messages, with what handlers name and return, and with calls
 * in handlers.
 */
#include "am.h"

static int drop(void* user, const MPIX_Am_message* message, MPIX_Am_landing* landing) {
  (void)user;
  (void)message;
  (void)landing;
  return MPI_SUCCESS;
}

static void run_arguments(void) {
  MPIX_Am am = MPIX_AM_NULL, other = MPIX_AM_NULL;
  MPIX_Am_layout layout = MPIX_AM_LAYOUT_NULL;
  const MPI_Comm world = MPI_COMM_WORLD;
  char immediate[MPIX_AM_IMMEDIATE_BYTES + 1] = "";
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  if (ranks > 1) {
    check_refused("numbers differ", MPI_ERR_ARG, "different numbers",
                  MPIX_Am_handler_register(drop, NULL, my_rank % 2, world, &am));
    const int code = MPIX_Am_handler_register(my_rank == 0 ? NULL : drop, NULL, 1, world, &am);
    if (my_rank == 0) check_refused("null", MPI_ERR_ARG, "null pointer", code);
    if (my_rank != 0) check_refused("null elsewhere", MPI_ERR_OP, "another member", code);
  }
  check_refused("a negative number", MPI_ERR_ARG, "negative",
                MPIX_Am_handler_register(drop, NULL, -1, world, &am));
  check_refused("no communicator", MPI_ERR_COMM, "null communicator",
                MPIX_Am_handler_register(drop, NULL, 1, MPI_COMM_NULL, &am));
  check_true("no handle", am == MPIX_AM_NULL);
  am = join(drop, NULL, 1, world);
  check_refused("a number in use", MPI_ERR_ARG, "another handler",
                MPIX_Am_handler_register(drop, NULL, 1, world, &other));
  check_refused("rank", MPI_ERR_RANK, "rank", MPIX_Am_send(NULL, 0, NULL, 0, MPI_INT, ranks, am));
  check_refused("rank", MPI_ERR_RANK, "rank", MPIX_Am_send(NULL, 0, NULL, 0, MPI_INT, -7, am));
  check_refused("count", MPI_ERR_COUNT, "negative",
                MPIX_Am_send(NULL, 0, immediate, -1, MPI_INT, 0, am));
  check_refused("type", MPI_ERR_TYPE, "type",
                MPIX_Am_send(NULL, 0, immediate, 1, MPI_DATATYPE_NULL, 0, am));
  check_refused("buffer", MPI_ERR_BUFFER, "null", MPIX_Am_send(NULL, 0, NULL, 1, MPI_INT, 0, am));
  check_refused("immediate", MPI_ERR_BUFFER, "null",
                MPIX_Am_send(NULL, 1, NULL, 0, MPI_INT, 0, am));
  check_refused("immediate", MPI_ERR_COUNT, "4064",
                MPIX_Am_send(immediate, sizeof immediate, NULL, 0, MPI_INT, 0, am));
  check_refused("immediate", MPI_ERR_COUNT, "4064",
                MPIX_Am_send(immediate, -1, NULL, 0, MPI_INT, 0, am));
  check_refused("handle", MPI_ERR_ARG, "handle",
                MPIX_Am_send(NULL, 0, NULL, 0, MPI_INT, 0, MPIX_AM_NULL));
  check_refused("layout", MPI_ERR_TYPE, "type", MPIX_Am_layout_create(MPI_DATATYPE_NULL, &layout));
  check_refused("layout", MPI_ERR_ARG, "layout", MPIX_Am_layout_free(&layout));
  settle();
  other = am;
  leave(&am);
  check_refused("a freed handle", MPI_ERR_ARG, "handle", MPIX_Am_free(&other));
  check_refused("a freed handle", MPI_ERR_ARG, "handle",
                MPIX_Am_send(NULL, 0, NULL, 0, MPI_INT, 0, other));
  check_refused("communicator", MPI_ERR_COMM, "null", MPIX_Am_quiesce(MPI_COMM_NULL));
  MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
}

/* ---- at the target */

enum wrong { kHeader, kTooSmall, kNullBuffer, kFreedLayout, kPart, kLastPart, kWrongs };
static const char* const kWords[] = {"header handler of a message has returned",
                                     "too small",
                                     "null buffer",
                                     "layout that is freed",
                                     "completion handler of a message",
                                     "completion handler of a message"};
enum { kBytes = 1 << 20, kChunk = 64 << 10 };

struct acting {
  enum wrong wrong;
  int parts, ends, last_error;
};
static struct acting acting;
static unsigned char landing_memory[kBytes];
static MPIX_Am_layout freed_layout;

static int act(void* argument, const MPIX_Am_part* part) {
  struct acting* const one = argument;
  ++one->parts;
  one->ends += part->is_last;
  one->last_error = part->error;
  if (part->error != MPI_SUCCESS) return MPI_SUCCESS;
  if (one->wrong == kPart && one->parts == 2) return MPI_ERR_INTERN;
  return one->wrong == kLastPart && part->is_last ? MPI_ERR_INTERN : MPI_SUCCESS;
}
static int begin_wrong(void* user, const MPIX_Am_message* message, MPIX_Am_landing* landing) {
  (void)user;
  memcpy(&acting.wrong, message->immediate, sizeof acting.wrong);
  landing->buffer = acting.wrong == kNullBuffer ? NULL : landing_memory;
  landing->count = message->payload_bytes - (acting.wrong == kTooSmall);
  landing->layout = acting.wrong == kFreedLayout ? freed_layout : MPIX_AM_LAYOUT_NULL;
  landing->chunk_bytes = message->payload_bytes / (kBytes / kChunk);
  landing->comp_handler = act;
  landing->argument = &acting;
  return acting.wrong == kHeader ? MPI_ERR_INTERN : MPI_SUCCESS;
}

static void be_wrong(enum wrong wrong, size_t bytes, MPIX_Am am) {
  unsigned char* const payload = payload_of(1, bytes);
  const int errors[] = {MPI_SUCCESS, MPI_ERR_TRUNCATE, MPI_ERR_ARG,
                        MPI_ERR_ARG, MPI_ERR_INTERN,   MPI_SUCCESS};
  const int parts[] = {0, 1, 1, 1, 3, kBytes / kChunk};
  at_step("wrong %d, %zu bytes", (int)wrong, bytes);
  acting = (struct acting){0};
  meet();
  if (my_rank == 0) {
    send_to(ranks - 1, part_of(&wrong, sizeof wrong), part_of(payload, bytes), am);
    check_refused("the sender hears", MPI_ERR_OTHER, kWords[wrong],
                  MPIX_Am_quiesce(MPI_COMM_WORLD));
  } else {
    settle();
  }
  settle(); /* it is told once */
  if (my_rank == ranks - 1) {
    check_equal("parts", parts[wrong], acting.parts);
    check_equal("ends", parts[wrong] != 0, acting.ends);
    check_equal("the last error", errors[wrong], acting.last_error);
  }
  free(payload);
}
static void run_at_target(void) {
  MPIX_Am am = join(begin_wrong, NULL, 1, MPI_COMM_WORLD);
  MPIX_Am_layout gone;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check_good("MPIX_Am_layout_create", MPIX_Am_layout_create(MPI_INT, &freed_layout));
  gone = freed_layout;
  check_good("MPIX_Am_layout_free", MPIX_Am_layout_free(&gone));
  for (enum wrong wrong = 0; wrong < kWrongs; ++wrong) {
    be_wrong(wrong, kBytes, am);
    be_wrong(wrong, kBytes / 64, am);
  }
  at_step("told by MPIX_Am_free");
  meet();
  const enum wrong header = kHeader;
  if (my_rank == 0) {
    send_to(ranks - 1, part_of(&header, sizeof header), none, am);
    check_refused("the sender hears", MPI_ERR_OTHER, kWords[kHeader], MPIX_Am_free(&am));
    check_true("it is freed", am == MPIX_AM_NULL);
  } else {
    leave(&am);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* ---- in a handler */

static MPIX_Am calling;
static MPI_Win window;
static int answers[7];
static int call_in_handler(void* user, const MPIX_Am_message* message, MPIX_Am_landing* landing) {
  const MPI_Datatype derived = *(const MPI_Datatype*)user;
  MPIX_Am am = calling;
  MPIX_Am_layout layout = MPIX_AM_LAYOUT_NULL;
  int one = 1;
  (void)landing;
  if (message->immediate_bytes == 0) return MPI_SUCCESS;
  answers[0] = MPIX_Am_quiesce(MPI_COMM_WORLD);
  answers[1] = MPIX_Am_free(&am);
  answers[2] = MPIX_Am_handler_register(call_in_handler, NULL, 8, MPI_COMM_WORLD, &am);
  answers[3] = MPIX_Am_layout_create(derived, &layout);
  answers[4] = MPI_Win_fence(0, window);
  answers[5] = MPIX_Am_send(NULL, 0, &one, 1, derived, 0, calling);
  answers[6] = MPIX_Am_send(NULL, 0, &one, 1, MPI_INT, 0, calling);
  return MPI_SUCCESS;
}
static void run_in_handler(void) {
  MPI_Datatype derived;
  void* base;
  MPI_Type_contiguous(1, MPI_INT, &derived);
  MPI_Type_commit(&derived);
  MPI_Win_allocate(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  calling = join(call_in_handler, &derived, 1, MPI_COMM_WORLD);
  meet();
  if (my_rank == 0) send_to(ranks - 1, part_of("x", 1), none, calling);
  settle();
  if (my_rank == ranks - 1) {
    for (int i = 0; i < 5; ++i) check_at("answer", i, MPI_ERR_OTHER, class_of(answers[i]));
    check_at("a derived type", 5, MPI_ERR_TYPE, class_of(answers[5]));
    check_at("one of MPI's own", 6, MPI_SUCCESS, class_of(answers[6]));
  }
  leave(&calling);
  MPI_Win_free(&window);
  MPI_Type_free(&derived);
}

int main(int argc, char** argv) {
  const struct test_case cases[] = {{"arguments", run_arguments},
                                    {"at_target", run_at_target},
                                    {"in_handler", run_in_handler},
                                    {NULL, NULL}};
  MPI_Init(&argc, &argv);
  return run_cases(argc, argv, cases);
}
