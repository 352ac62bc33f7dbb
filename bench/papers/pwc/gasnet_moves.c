/* Figures 3 to 5 of the paper with GASNet-EX, between two ranks, where it is installed.
 *
 *   gasnet_moves WHAT SIZES TIMES BYTES RUNS
 *
 *   put-latency, get-latency      gex_RMA_PutNBI or gex_RMA_GetNBI, then gex_NBI_Wait
 *   put-bandwidth, get-bandwidth  all of them, then one gex_NBI_Wait
 *   am-ping-pong                  gex_AM_RequestLong, answered by gex_AM_ReplyLong
 *
 * Bytes are verified after each run. Amounts are those of pwc_moves.cpp. A message that is longer
 * than a Long may be is left out.
 */
#include <gasnetex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kQuestion_ping_pong = 4, kMostRuns = 100, kRequest = GEX_AM_INDEX_BASE, kReply };

static gex_TM_t team;
static unsigned char *own, *theirs; /* segments: of this rank, and of the other */
static gex_Rank_t rank;
static size_t size;
static int is_answered;

static void fail(const char* text) {
  fprintf(stderr, "gasnet_moves: %s\n", text);
  gasnet_exit(1);
  exit(1);
}

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void meet(void) { gex_Event_Wait(gex_Coll_BarrierNB(team, 0)); }

static void on_request(gex_Token_t token, void* bytes, size_t count) {
  /* Back to where rank 0 expects it: behind what it sends. */
  gex_AM_ReplyLong0(token, kReply, bytes, count, theirs + count, GEX_EVENT_NOW, 0);
}

static void on_reply(gex_Token_t token, void* bytes, size_t count) {
  (void)token, (void)bytes, (void)count;
  is_answered = 1;
}

static void once(int question) {
  if (question == kQuestion_ping_pong) {
    is_answered = 0;
    gex_AM_RequestLong0(team, 1, kRequest, own, size, theirs, GEX_EVENT_NOW, 0);
    GASNET_BLOCKUNTIL(is_answered);
  } else if (question % 2 == 0) {
    gex_RMA_PutNBI(team, 1, theirs, own, size, GEX_EVENT_DEFER, 0);
  } else {
    gex_RMA_GetNBI(team, own, 1, theirs, size, 0);
  }
}

static unsigned char pattern(long run, size_t i) {
  return (unsigned char)((run * 31 + i * 7) % 251);
}

static void verify(const unsigned char* bytes, long run) {
  for (size_t i = 0; i < size; ++i)
    if (bytes[i] != pattern(run, i)) fail("a byte is wrong");
}

static double one_run(int question, long run, long times) {
  const int is_get = question == 1 || question == 3;
  memset(own, 0xff, 2 * size);
  if (is_get == (rank == 1))
    for (size_t i = 0; i < size; ++i) own[i] = pattern(run, i);
  meet();
  const double begin_us = now_us();
  for (long i = 0; rank == 0 && i < times; ++i) {
    once(question);
    if (question < 2) gex_NBI_Wait(GEX_EC_ALL, 0);
  }
  if (rank == 0) gex_NBI_Wait(GEX_EC_ALL, 0);
  const double took_us = now_us() - begin_us;
  meet();
  if (is_get == (rank == 0)) verify(own, run);
  if (question == kQuestion_ping_pong && rank == 0) verify(own + size, run);
  meet();
  return took_us / (double)times;
}

static int ascending(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

static void measure(int question, char** arguments) {
  const long most = atol(arguments[3]), bytes = atol(arguments[4]), runs = atol(arguments[5]);
  const char* before = "{\"rows\": [";
  if (most < 1 || bytes < 1 || runs < 1 || runs > kMostRuns) fail("TIMES, BYTES, RUNS: numbers");
  for (char* word = strtok(arguments[2], ","); word; word = strtok(NULL, ",")) {
    double found[kMostRuns], sum = 0;
    size = (size_t)atol(word);
    if (question == kQuestion_ping_pong &&
        size > gex_AM_MaxRequestLong(team, 1 - rank, GEX_EVENT_NOW, 0, 0))
      continue;
    long times = bytes / (long)size > 20 ? bytes / (long)size : 20;
    if (times > most) times = most;
    one_run(question, 0, times / 10 ? times / 10 : 1);
    for (long i = 0; i < runs; ++i) sum += found[i] = one_run(question, i + 1, times);
    qsort(found, (size_t)runs, sizeof *found, ascending);
    if (rank == 0)
      printf("%s{\"size\": %zu, \"us\": %.9g, \"mean_us\": %.9g}", before, size,
             found[(runs - 1) / 2], sum / (double)runs);
    before = ", ";
  }
  if (rank == 0) printf("]}\n");
}

int main(int count, char** arguments) {
  static const char* const kQuestions[] = {"put-latency", "get-latency", "put-bandwidth",
                                           "get-bandwidth", "am-ping-pong"};
  gex_AM_Entry_t handlers[] = {
      {kRequest, (gex_AM_Fn_t)on_request, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0, NULL, NULL},
      {kReply, (gex_AM_Fn_t)on_reply, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REPLY, 0, NULL, NULL}};
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_Segment_t segment;
  uintptr_t segment_bytes = 4 << 20;
  int question = 0;
  gex_Client_Init(&client, &endpoint, &team, "pwc", &count, &arguments, 0);
  gex_Segment_Attach(&segment, team, segment_bytes);
  gex_EP_RegisterHandlers(endpoint, handlers, 2);
  rank = gex_TM_QueryRank(team);
  if (count != 6 || gex_TM_QuerySize(team) != 2) fail("two ranks; WHAT SIZES TIMES BYTES RUNS");
  while (question < 5 && strcmp(arguments[1], kQuestions[question]) != 0) ++question;
  if (question == 5) fail("there is no such question");
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, (void**)&own, NULL, NULL, 0));
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, 1 - rank, (void**)&theirs, NULL, NULL, 0));
  measure(question, arguments);
  fflush(stdout);
  meet();
  gasnet_exit(0);
  return 0;
}
