/* Groups that others have made, messages that are sent in part, poll calls, random numbers. */
#include <converse.h>

enum { kRounds = 20, kLarge = 4096, kSmall = 64 };

typedef struct Word {
  char header[CmiMsgHeaderSizeBytes];
  CmiGroup group;
  int round;
} Word;

CpvStaticDeclare(int, on_word);
CpvStaticDeclare(int, on_group);
CpvStaticDeclare(int, on_end);
CpvStaticDeclare(int, words);
CpvStaticDeclare(int, ended);
CpvStaticDeclare(int, on_poll);
CpvStaticDeclare(int, polled);

static void check(int holds, const char* what) {
  if (!holds) CmiAbort("PE %d: %s", CmiMyPe(), what);
}

static void take_end(void* message) {
  CmiFree(message);
  if (++CpvAccess(ended) == CmiNumPes()) CsdExitScheduler();
}

static void take_poll(void* message) {
  CmiFree(message);
  CpvAccess(polled) = 1;
}

/* All PEs send to each group; it may not have been heard of here yet. */
static void take_group(void* message) {
  const Word* word = (const Word*)message;
  Word* next = (Word*)CmiAlloc(kLarge);
  next->group = word->group;
  next->round = word->round;
  CmiSetHandler(next, CpvAccess(on_word));
  CmiSyncMulticastAndFree(word->group, kSmall, next);
  CmiFree(message);
}

static void take_word(void* message) {
  check(CmiSize(message) == kSmall, "a message that was sent in part has another size");
  CmiFree(message);
  if (++CpvAccess(words) != kRounds * CmiNumPes()) return;
  void* end = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(end, CpvAccess(on_end));
  CmiSyncBroadcastAllAndFree(CmiMsgHeaderSizeBytes, end);
}

static void try_random(void) {
  CrnStream one, same, other;
  CrnInitStream(&one, 7, 0);
  CrnInitStream(&same, 7, 0);
  CrnInitStream(&other, 8, 0);
  int equal = 0;
  for (int i = 0; i < 100; ++i) {
    const double number = CrnDouble(&one);
    check(number >= 0 && number < 1, "a random number is out of range");
    check(number == CrnDouble(&same), "equal seeds give other numbers");
    if (number == CrnDouble(&other)) ++equal;
  }
  check(equal < 2, "other seeds give equal numbers");
  check(CrnRand() >= 0 && CrnDrand() < 1, "a random number is out of range");
}

static void try_polls(void) {
  CpvInitialize(int, polled);
  CpvAccess(on_poll) = CmiRegisterHandler(take_poll);
  CsdExitScheduler(); /* outside of a run: no effect */
  check(CsdScheduler(0) == 0 || CmiNumPes() > 1, "a poll returns something");
  check(CsdEmpty() && CsdLength() == 0, "the queue is not empty");
  void* message = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(message, CpvAccess(on_poll));
  CsdEnqueue(message);
  check(CsdLength() == 1, "the queue does not have the message");
  while (CsdLength() != 0) CsdSchedulePoll();
  check(CpvAccess(polled), "the message was not run");
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  CpvInitialize(int, words);
  CpvInitialize(int, ended);
  CpvAccess(on_word) = CmiRegisterHandler(take_word);
  CpvAccess(on_group) = CmiRegisterHandler(take_group);
  CpvAccess(on_end) = CmiRegisterHandler(take_end);
  try_random();
  if (CmiMyPe() != 0) return;
  int* pes = (int*)malloc((size_t)CmiNumPes() * sizeof *pes);
  for (int pe = 0; pe < CmiNumPes(); ++pe) pes[pe] = pe;
  for (int round = 0; round < kRounds; ++round) {
    Word word;
    CmiInitMsgHeader(&word, sizeof word);
    CmiSetHandler(&word, CpvAccess(on_group));
    word.group = CmiEstablishGroup(CmiNumPes(), pes);
    word.round = round;
    for (int pe = 0; pe < CmiNumPes(); ++pe) CmiSyncSend(pe, sizeof word, &word);
  }
  free(pes);
}

static void run(int argc, char** argv) {
  try_polls();
  CmiBarrier(); /* nobody sends before all have polled */
  start(argc, argv);
  CsdScheduler(-1);
  if (CmiMyPe() == 0) CmiPrintf("ok core\n");
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, run, 1, 0);
  return 1;
}
