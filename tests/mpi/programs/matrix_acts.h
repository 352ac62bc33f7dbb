/*
 * The acts of matrix.c: each operation with each reduction that it takes, on places of its own in
 * the target's memory, with what has to stand there afterwards and what has to come back.
 *
 * A window has a block of places for each origin, one of kCount elements for each act, and behind
 * these kCount elements that all origins add to.
 */
#pragma once

#include "check.h"

typedef long long element;

enum { kCount = 5, kMostActs = 48 };

enum verb { kPut, kGet, kAccumulate, kGetAccumulate, kFetchAndOp, kCompareAndSwap };

struct act {
  enum verb verb;
  int reduction; /* of kReductions; for a compare-and-swap whether it is to succeed */
  int is_request;
};

enum { kSum, kProd, kMax, kMin, kBand, kBor, kBxor, kLand, kLor, kLxor, kReplace, kNoOp, kAllOps };

static struct act acts[kMostActs];
static int acts_count;

struct traffic {
  element sent[kMostRanks][kMostActs][kCount];
  element compared[kMostRanks][kMostActs];
  element fetched[kMostRanks][kMostActs][kCount];
  element ones[kCount];
  MPI_Request requests[kMostRanks][kMostActs];
};
static struct traffic traffic;

static MPI_Op op_of(int reduction) {
  const MPI_Op ops[kAllOps] = {MPI_SUM,  MPI_PROD, MPI_MAX, MPI_MIN,  MPI_BAND,    MPI_BOR,
                               MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_REPLACE, MPI_NO_OP};
  return ops[reduction];
}

static element reduced(int reduction, element there, element sent) {
  switch (reduction) {
    case kSum: return there + sent;
    case kProd: return there * sent;
    case kMax: return there > sent ? there : sent;
    case kMin: return there < sent ? there : sent;
    case kBand: return there & sent;
    case kBor: return there | sent;
    case kBxor: return there ^ sent;
    case kLand: return there && sent;
    case kLor: return there || sent;
    case kLxor: return !there != !sent;
    case kReplace: return sent;
    default: return there;
  }
}

static void add_act(enum verb verb, int reduction, int is_request) {
  if (acts_count == kMostActs) fail("too many acts");
  acts[acts_count++] = (struct act){verb, reduction, is_request};
}

static void list_acts(void) {
  if (acts_count > 0) return;
  for (int is_request = 0; is_request < 2; ++is_request) {
    add_act(kPut, kReplace, is_request);
    add_act(kGet, kNoOp, is_request);
  }
  for (int reduction = 0; reduction < kAllOps; ++reduction) {
    const int is_logical = reduction == kLand || reduction == kLor || reduction == kLxor;
    /* Open MPI 4.1 computes these wrongly on memory that the program brings. */
    if (is_logical && is_plain("Open MPI")) continue;
    /* MPI_NO_OP is for the fetching ones alone. */
    if (reduction != kNoOp) add_act(kAccumulate, reduction, 0);
    add_act(kGetAccumulate, reduction, 0);
    add_act(kFetchAndOp, reduction, 0);
  }
  add_act(kAccumulate, kSum, 1);
  add_act(kGetAccumulate, kSum, 1);
  if (is_plain("Open MPI")) return; /* 4.1 ends with a signal on MPI_Win_allocate */
  add_act(kCompareAndSwap, 0, 0);
  add_act(kCompareAndSwap, 1, 0);
}

/* Small, of both signs, some of them 0: so that each reduction shows. */
static element initial(int target, int origin, int act, int i) {
  return (target * 7 + origin * 5 + act * 3 + i * 11) % 17 - 5;
}
static element sent_value(int target, int origin, int act, int i) {
  return (target * 3 + origin * 13 + act * 5 + i * 7) % 19 - 6;
}

static long place_of(int origin, int act) { return ((long)origin * kMostActs + act) * kCount; }
static long shared_place(void) { return place_of(ranks, 0); }
static long places_count(void) { return shared_place() + kCount; }

static int elements_of(const struct act* act) {
  return act->verb == kFetchAndOp || act->verb == kCompareAndSwap ? 1 : kCount;
}

/* One act at one target; `at` in the target's units. */
static void issue_act(int index, int target, MPI_Aint at, MPI_Win win) {
  const struct act* act = &acts[index];
  const MPI_Datatype type = MPI_LONG_LONG;
  const MPI_Op op = act->verb == kCompareAndSwap ? MPI_NO_OP : op_of(act->reduction);
  const int slot = target == MPI_PROC_NULL ? my_rank : target;
  element* sent = traffic.sent[slot][index];
  element* fetched = traffic.fetched[slot][index];
  MPI_Request* request = &traffic.requests[slot][index];
  const int n = kCount;
  if (target == MPI_PROC_NULL && act->is_request) return;
  switch (act->verb) {
    case kPut:
      if (!act->is_request) MPI_Put(sent, n, type, target, at, n, type, win);
      if (act->is_request) MPI_Rput(sent, n, type, target, at, n, type, win, request);
      break;
    case kGet:
      if (!act->is_request) MPI_Get(fetched, n, type, target, at, n, type, win);
      if (act->is_request) MPI_Rget(fetched, n, type, target, at, n, type, win, request);
      break;
    case kAccumulate:
      if (!act->is_request) MPI_Accumulate(sent, n, type, target, at, n, type, op, win);
      if (act->is_request) MPI_Raccumulate(sent, n, type, target, at, n, type, op, win, request);
      break;
    case kGetAccumulate:
      if (!act->is_request)
        MPI_Get_accumulate(sent, n, type, fetched, n, type, target, at, n, type, op, win);
      if (act->is_request)
        MPI_Rget_accumulate(sent, n, type, fetched, n, type, target, at, n, type, op, win, request);
      break;
    case kFetchAndOp: MPI_Fetch_and_op(sent, fetched, type, target, at, op, win); break;
    default:
      MPI_Compare_and_swap(sent, &traffic.compared[slot][index], fetched, type, target, at, win);
  }
}

/* What stands in element i of that place when the act is over. */
static element expected_after(int target, int origin, int index, int i) {
  const struct act* act = &acts[index];
  const element before = initial(target, origin, index, i);
  const element sent = sent_value(target, origin, index, i);
  if (i >= elements_of(act)) return before;
  if (act->verb == kCompareAndSwap) return act->reduction == 1 ? sent : before;
  return reduced(act->reduction, before, sent);
}

static void fill_traffic(void) {
  memset(&traffic, 0, sizeof traffic);
  for (int i = 0; i < kCount; ++i) traffic.ones[i] = 1;
  for (int target = 0; target < ranks; ++target)
    for (int act = 0; act < acts_count; ++act) {
      const element there = initial(target, my_rank, act, 0);
      traffic.requests[target][act] = MPI_REQUEST_NULL;
      traffic.compared[target][act] = acts[act].reduction == 1 ? there : there + 1;
      for (int i = 0; i < kCount; ++i) {
        traffic.sent[target][act][i] = sent_value(target, my_rank, act, i);
        traffic.fetched[target][act][i] = -1000;
      }
    }
}

static void check_fetched(void) {
  for (int target = 0; target < ranks; ++target)
    for (int act = 0; act < acts_count; ++act)
      for (int i = 0; i < kCount; ++i) {
        const enum verb verb = acts[act].verb;
        const int comes = verb != kPut && verb != kAccumulate && i < elements_of(&acts[act]);
        if (acts[act].is_request && traffic.requests[target][act] != MPI_REQUEST_NULL)
          fail("a request is left");
        if (traffic.sent[target][act][i] != sent_value(target, my_rank, act, i))
          fail("what was sent from act %d has changed", act);
        const element expected = comes ? initial(target, my_rank, act, i) : -1000;
        const element found = traffic.fetched[target][act][i];
        if (found != expected)
          fail("act %d (verb %d, op %d) at %d, element %d: expected to fetch %lld, found %lld", act,
               (int)verb, acts[act].reduction, target, i, expected, found);
      }
}
