/* All PEs broadcast at once, in all forms; each PE gets each exactly once. */
#include "program.inc.h"

enum { kToOthers, kToOthersAndFree, kToAll, kToAllAndFree, kToOthersLater, kToAllLater, kForms };
enum { kRounds = 3 };

typedef struct News {
  char header[CmiMsgHeaderSizeBytes];
  int from, form, round;
} News;

CpvDeclare(int, news_handler);
CpvDeclare(int, begin_handler);
CpvDeclare(int, left);
CpvDeclare(char*, had);

static int bytes_of(int form, int round) { return form * 111 + round * 3000; }

static void on_news(void* message) {
  News* news = (News*)message;
  char* had = CpvAccess(had) + (news->from * kForms + news->form) * kRounds + news->round;
  expect(!*had, "the same news twice");
  *had = 1;
  const int is_own = news->from == CmiMyPe();
  const int is_to_all =
      news->form == kToAll || news->form == kToAllAndFree || news->form == kToAllLater;
  expect(!is_own || is_to_all, "own news, which was for the others");
  expect_pattern((char*)(news + 1), bytes_of(news->form, news->round), news->from + news->form,
                 "news");
  CmiFree(news);
  if (--CpvAccess(left) == 0) finish_pe();
}

static void await(CmiCommHandle handle) {
  while (!CmiAsyncMsgSent(handle)) CsdScheduler(0);
  CmiReleaseCommHandle(handle);
}

static void tell(int form, int round) {
  const int size = (int)sizeof(News) + bytes_of(form, round);
  News* news = (News*)CmiAlloc(size);
  news->from = CmiMyPe();
  news->form = form;
  news->round = round;
  fill_pattern((char*)(news + 1), bytes_of(form, round), news->from + form);
  CmiSetHandler(news, CpvAccess(news_handler));
  switch (form) {
    case kToOthersAndFree: CmiSyncBroadcastAndFree(size, news); return;
    case kToAllAndFree: CmiSyncBroadcastAllAndFree(size, news); return;
    case kToOthers: CmiSyncBroadcast(size, news); break;
    case kToAll: CmiSyncBroadcastAll(size, news); break;
    case kToOthersLater: await(CmiAsyncBroadcast(size, news)); break;
    default: await(CmiAsyncBroadcastAll(size, news)); break;
  }
  memset(news, 0x77, (size_t)size); /* it is ours again */
  CmiFree(news);
}

/* A handler, since await() runs the scheduler: news may be the last that the outer one has to run.
 */
static void on_begin(void* message) {
  CmiFree(message);
  for (int round = 0; round < kRounds; ++round)
    for (int form = 0; form < kForms; ++form) tell(form, round);
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  begin_program("broadcasts");
  CpvInitialize(int, news_handler);
  CpvInitialize(int, begin_handler);
  CpvInitialize(int, left);
  CpvInitialize(char*, had);
  CpvAccess(news_handler) = CmiRegisterHandler(on_news);
  CpvAccess(begin_handler) = CmiRegisterHandler(on_begin);
  CpvAccess(left) = kRounds * (CmiNumPes() * kForms - kForms / 2);
  CpvAccess(had) = (char*)calloc((size_t)(CmiNumPes() * kForms * kRounds), 1);
  void* begin = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(begin, CpvAccess(begin_handler));
  CmiSyncSendAndFree(CmiMyPe(), CmiMsgHeaderSizeBytes, begin);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
