/* Calls on threads and reductions that cannot be done: each ends the job with words. The first
   argument says which. */
#include <pup_c.h>

#include <converse.h>

typedef struct Part {
  char header[CmiMsgHeaderSizeBytes];
  int value;
} Part;

CpvStaticDeclare(const char*, what);
CpvStaticDeclare(int, part_handler);
CtvStaticDeclare(int, unknown);

static int is(const char* name) { return strcmp(CpvAccess(what), name) == 0; }

static void nothing(void* user) { (void)user; }
static void take(void* message) { CmiFree(message); }

static void suspends(void* user) {
  CthThread const self = CthSelf();
  (void)user;
  if (is("unsuspendable")) CthSetSuspendable(self, 0);
  if (is("freed twice")) CthFree(self);
  if (is("freed twice")) CthFree(self);
  CthSuspend();
}

static void call_on_threads(void) {
  unsigned int priority = 1;
  CthThread const over = CthCreate(nothing, NULL, 0);
  CthThread const thread = CthCreate(suspends, NULL, 0);
  CthAwaken(over);
  CthAwaken(thread);
  CthYield();
  if (is("awaken over")) CthAwaken(over);
  if (is("resume over")) CthResume(over);
  if (is("free over")) CthFree(over);
  if (is("null")) CthAwaken(NULL);
  if (is("no function")) CthCreate(NULL, NULL, 0);
  if (is("negative stack")) CthCreate(nothing, NULL, -1);
  if (is("no strategy")) CthAwakenPrio(thread, 17, 32, &priority);
  if (is("too many bits")) CthAwakenPrio(thread, CQS_QUEUEING_BFIFO, 1000000, &priority);
  if (is("no thread exits")) CthExit();
  if (is("free of the PE")) CthFree(CthSelf());
  if (is("no variable")) CtvAccess(unknown) = 1;
}

static void* longer(int* size, void* local, void** remote, int count) {
  (void)remote;
  (void)count;
  if (is("null result")) return NULL;
  *size = is("negative result") ? -1 : *size + 1000;
  return local;
}

static void pup_more(void* p, void* data) {
  pup_bytes(p, data, pup_isPacking(p) && is("packs more") ? 5 : 4);
}

static Part* new_part(int handler) {
  Part* const part = (Part*)CmiAlloc(sizeof(Part));
  part->value = 1;
  CmiSetHandler(part, handler);
  return part;
}

static void call_on_reductions(void) {
  static int data[2];
  const int size = is("longer than its memory") ? 100
                   : is("negative size")        ? -4
                                                : (int)sizeof(Part);
  if (is("packs more")) CmiReduceStruct(data, pup_more, longer, take, NULL);
  if (is("no destination")) CmiReduceStruct(data, pup_more, longer, NULL, NULL);
  if (is("no quiescence")) CmiStartQD(NULL, NULL);
  if (is("null pup")) pup_int(NULL, data);
  if (is("null part")) CmiReduce(NULL, size, longer);
  CmiReduce(new_part(CpvAccess(part_handler)), size, is("no merge") ? NULL : longer);
}

static void start(int argc, char** argv) {
  CmiAssert(argc == 3);
  CpvInitialize(const char*, what);
  CpvAccess(what) = argv[2];
  CpvInitialize(int, part_handler);
  CpvAccess(part_handler) = CmiRegisterHandler(take);
  if (strcmp(argv[1], "thread") == 0)
    call_on_threads();
  else
    call_on_reductions();
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 0;
}
