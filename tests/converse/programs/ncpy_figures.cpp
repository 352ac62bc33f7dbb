// Figures 1 to 3 of Bhat, White and Kalé as they are printed, between PE 0 and the last PE. What
// they leave open stands around them; srcDoneHandler and destDoneHandler tell PE 0 as well.
#include <converse.h>

struct buffObjMsg {
  char header[CmiMsgHeaderSizeBytes];
  CmiNcpyBuffer buffObj;
};

static thread_local int computed;
static const int buffSize = 100000;
CpvStaticDeclare(int, on_metadata);
CpvStaticDeclare(int, on_over);
CpvStaticDeclare(int, on_end);

static void tell(int isSource) {
  int* over = static_cast<int*>(CmiAlloc(CmiMsgHeaderSizeBytes + sizeof(int)));
  over[CmiMsgHeaderSizeInts] = isSource;
  CmiSetHandler(over, CpvAccess(on_over));
  CmiSyncSendAndFree(0, CmiMsgHeaderSizeBytes + sizeof(int), over);
}

namespace source {

static thread_local char* myBuffer;

// Figure 3, its first half.
void srcDoneHandler(char* msg) {
  free(myBuffer);  // free the buffer
  (void)msg;
  tell(1);
}

void offer(int remotePe, int destMetadataHandler) {
  // Figure 1.
  // Inside a converse method.. Declare a CmiNcpyBuffer object
  CmiNcpyBuffer srcMeta(myBuffer, buffSize, srcDoneHandler);

  // Invoke a remote method passing my CmiNcpyBuffer object
  buffObjMsg* msg = (buffObjMsg*)CmiAlloc(sizeof(buffObjMsg));
  CmiSetHandler(msg, destMetadataHandler);
  msg->buffObj = srcMeta;
  CmiSyncSendAndFree(remotePe, sizeof(buffObjMsg), msg);
}

}  // namespace source

namespace destination {

static thread_local char* myBuffer;

static void computeValues() {
  ++computed;
  for (int at = 0; at < buffSize; ++at)
    if (myBuffer[at] != static_cast<char>(at * 5)) CmiAbort("byte %d is wrong", at);
}

// Figure 3, its second half.
void destDoneHandler(char* msg) {
  // received data, begin computing
  computeValues();
  (void)msg;
  tell(0);
}

// Figure 2.
void destMetadataHandler(buffObjMsg* msg) {
  CmiNcpyBuffer* srcMeta = msg->buffObj;
  CmiNcpyBuffer destMeta(myBuffer, buffSize, destDoneHandler);
  destMeta.get(*srcMeta);
  if (computed != 0) CmiAbort("a done ran inside get()");
}

}  // namespace destination

static void take_metadata(void* message) {
  destination::myBuffer = static_cast<char*>(calloc(1, buffSize));
  destination::destMetadataHandler(static_cast<buffObjMsg*>(message));
  CmiFree(message);
}

// On PE 0: both dones came, once each.
static void take_over(void* message) {
  static int seen[2];
  ++seen[static_cast<int*>(message)[CmiMsgHeaderSizeInts]];
  if (seen[0] > 1 || seen[1] > 1) CmiAbort("a done came twice");
  if (seen[0] + seen[1] != 2) return CmiFree(message);
  CmiPrintf("ok ncpy_figures\n");
  CmiSetHandler(message, CpvAccess(on_end));
  CmiSyncBroadcastAllAndFree(CmiMsgHeaderSizeBytes + sizeof(int), message);
}

static void take_end(void* message) {
  CmiFree(message);
  ConverseExit();
}

static void start(int, char**) {
  CpvInitialize(int, on_metadata);
  CpvInitialize(int, on_over);
  CpvInitialize(int, on_end);
  CpvAccess(on_metadata) = CmiRegisterHandler(take_metadata);
  CpvAccess(on_over) = CmiRegisterHandler(take_over);
  CpvAccess(on_end) = CmiRegisterHandler(take_end);
  if (CmiMyPe() != 0) return;
  source::myBuffer = static_cast<char*>(malloc(buffSize));
  for (int at = 0; at < buffSize; ++at) source::myBuffer[at] = static_cast<char>(at * 5);
  source::offer(CmiNumPes() - 1, CpvAccess(on_metadata));
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 1;
}
