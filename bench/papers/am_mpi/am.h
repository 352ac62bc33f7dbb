/* What the experiments of Zhao and others' paper on active messages in MPI (2013) share: the
 * operations that are compared, and the line of JSON that rank 0 prints.
 *
 * An active message is an MPI_Accumulate with an operation of the program (section III), which adds
 * as MPI_SUM does. MPIs have none: kAm exists where Photon's library stands before MPI.
 *
 * Points are figures by panel (a part of a figure), series (a line in it) and x. A program prints
 * all of them in one line, between begin_points() and end_points().
 * Owner: nobody, these are functions. Threads: the program's one.
 */
#pragma once

#include "mpi_common.h"

/* Of the library that is preloaded. */
__attribute__((weak)) int MPIX_Op_register(MPI_Op op, int id, MPI_Win win);

enum { kPut, kAccumulate, kAm, kKinds };

static inline const char* name_of(int kind) {
  static const char* const kNames[kKinds] = {"put", "accumulate", "am"};
  return kNames[kind];
}

/* Those that this MPI has: the first so many. */
static inline int kinds_here(void) { return MPIX_Op_register != NULL ? kKinds : kAm; }

static inline void add_ints(void* in, void* inout, int* count, MPI_Datatype* type) {
  const int* const from = in;
  int* const to = inout;
  (void)type;
  for (int i = 0; i < *count; ++i) to[i] += from[i];
}

/* The operation, of which the window knows; MPI_OP_NULL where there is none. */
static inline MPI_Op user_op(MPI_User_function* function, MPI_Win window) {
  MPI_Op op = MPI_OP_NULL;
  if (MPIX_Op_register == NULL) return op;
  MPI_Op_create(function, 1, &op);
  MPIX_Op_register(op, 0, window);
  return op;
}

static inline void free_op(MPI_Op* op) {
  if (*op != MPI_OP_NULL) MPI_Op_free(op);
}

typedef struct Operator {
  MPI_Win window;
  MPI_Op add; /* of user_op() with add_ints() */
  int target;
} Operator;

static inline void operate(const Operator* with, int kind, const int* from, int count,
                           MPI_Aint at) {
  const int to = with->target;
  if (kind == kPut)
    MPI_Put(from, count, MPI_INT, to, at, count, MPI_INT, with->window);
  else
    MPI_Accumulate(from, count, MPI_INT, to, at, count, MPI_INT, kind == kAm ? with->add : MPI_SUM,
                   with->window);
}

static inline void begin_points(void) { printf("{\"points\": ["); }

typedef struct Point {
  const char *panel, *series;
  long x;
  double value;
} Point;

static inline void say_point(int* said, Point point) {
  printf("%s{\"panel\": \"%s\", \"series\": \"%s\", \"x\": %ld, \"value\": %.4f}",
         (*said)++ ? ", " : "", point.panel, point.series, point.x, point.value);
}

static inline void end_points(double before_ns, double after_ns) {
  printf("], \"ping_ns\": [%.1f, %.1f]}\n", before_ns, after_ns);
}

/* Whether there is time for another round, as rank 0 finds. All ranks call it. */
static inline int has_time(uint64_t begun_ns, double limit_s) {
  int yes = ns_between(begun_ns, now_ns()) < 1e9 * limit_s;
  MPI_Bcast(&yes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return yes;
}

/* Of a program whose only option is --tiny: whether it is given. Others end the job. */
static inline int only_tiny(int argc, char** argv) {
  if (argc > 2 || (argc == 2 && strcmp(argv[1], "--tiny") != 0))
    fail("%s: there is no option but --tiny", argv[0]);
  return argc == 2;
}

static inline int this_rank(int wanted) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != wanted) fail("this experiment wants %d ranks", wanted);
  return rank;
}
