// Calls that end the job with words: the argument says which one PE 0 makes.
#include <converse.h>

namespace {

struct Offer {
  char header[CmiMsgHeaderSizeBytes];
  CmiNcpyBuffer object;
};

char memory[2][4096];
const char* chosen = "";
CpvStaticDeclare(int, on_offer);
CpvStaticDeclare(int, on_ask);
CpvStaticDeclare(int, on_done);

bool is(const char* name) { return strcmp(chosen, name) == 0; }

void take_ack(void*) {}
void take_done(void* message) { CmiFree(message); }

// Of 4096 bytes, of the last PE.
void take_ask(void* message) {
  CmiFree(message);
  const unsigned short mode = is("other_noreg") ? CMK_BUFFER_NOREG : CMK_BUFFER_REG;
  auto* offer = static_cast<Offer*>(CmiAlloc(sizeof(Offer)));
  offer->object = CmiNcpyBuffer(memory[1], 4096, mode, CMK_BUFFER_NODEREG);
  if (is("stale")) offer->object.deregisterMem();
  CmiSetHandler(offer, CpvAccess(on_offer));
  CmiSyncSendAndFree(0, sizeof(Offer), offer);
}

void use(CmiNcpyBuffer& other) {
  if (is("foreign")) return other.deregisterMem();
  if (is("far_copy")) return CmiNcpyBuffer(memory[0], 4096, nullptr).memcpyGet(other);
  if (is("forged")) memset(other.layerInfo, 0x5a, sizeof other.layerInfo);
  if (is("short_get")) return CmiNcpyBuffer(memory[0], 100, nullptr).get(other);
  if (is("short_rdma"))
    return CmiNcpyBuffer(memory[0], 100, nullptr).rdmaGet(other, 0, nullptr, nullptr);
  if (is("noreg")) return CmiNcpyBuffer(memory[0], 4096, CMK_BUFFER_NOREG).get(other);
  if (is("ack_size"))
    return CmiNcpyBuffer(memory[0], 4096).rdmaGet(other, -3, memory[0], memory[0]);
  CmiNcpyBuffer own(memory[0], is("short_put") ? 4097 : 4096, CpvAccess(on_done));
  if (is("short_put")) return own.put(other);
  own.get(other);
  if (is("twice")) own.get(other);
}

void take_offer(void* message) {
  CmiNcpyBuffer other = static_cast<Offer*>(message)->object;
  CmiFree(message);
  use(other);
}

void use_alone() {
  char info[CMK_NOCOPY_DIRECT_BYTES];
  CmiNcpyBuffer never;
  if (is("never_made")) never.get(never);
  if (is("not_set")) CmiNcpyBuffer(memory[0], 8).rdmaGet(never, 0, nullptr, nullptr);
  if (is("ended")) {
    CmiNcpyBuffer own(memory[0], 8, nullptr);
    own.deregisterMem();
    own.get(own);
  }
  if (is("no_handler")) CmiNcpyBuffer(memory[0], 8, 77);
  if (is("negative")) CmiNcpyBuffer(memory[0], static_cast<size_t>(-5));
  if (is("mode")) CmiNcpyBuffer(memory[0], 8, 9, CMK_BUFFER_DEREG);
  if (is("lrts_size")) LrtsSetRdmaBufferInfo(info, memory[0], -7, CMK_BUFFER_REG);
  if (is("lrts_null")) LrtsIssueRget(nullptr);
  if (is("no_memory")) CmiNcpyBuffer(nullptr, 8);
}

void start(int argc, char** argv) {
  if (argc > 1) chosen = argv[1];
  CpvInitialize(int, on_offer);
  CpvInitialize(int, on_ask);
  CpvInitialize(int, on_done);
  CpvAccess(on_offer) = CmiRegisterHandler(take_offer);
  CpvAccess(on_ask) = CmiRegisterHandler(take_ask);
  CpvAccess(on_done) = CmiRegisterHandler(take_done);
  if (!is("not_set")) CmiSetDirectNcpyAckHandler(take_ack);
  if (CmiMyPe() != 0) return;
  use_alone();
  void* ask = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(ask, CpvAccess(on_ask));
  CmiSyncSendAndFree(CmiNumPes() - 1, CmiMsgHeaderSizeBytes, ask);
}

}  // namespace

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 1;
}
