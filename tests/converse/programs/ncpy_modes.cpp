// What modes mean: an enumerator is no handler, what CMK_BUFFER_DEREG has ended begins anew,
// objects serve again and again, all PEs may read one source, and no copy learns anything.
#include <converse.h>

namespace {

constexpr int kRounds = 500;
constexpr int kBytes = 5000;

struct Offer {
  char header[CmiMsgHeaderSizeBytes];
  int root;
  CmiNcpyBuffer source;
};

struct State {
  char source[kBytes], destination[kBytes];
  CmiNcpyBuffer persistent;  // of this PE, as the source of all others
  CmiNcpyBuffer landing;     // one object for all reads of the second part
  int part = 0, round = 0;
  int source_dones = 0, indexed = 0, acks = 0;
  int on_trap, on_trap_too, on_offer, on_end, on_next, on_index, on_queued;
};

thread_local State state;

void trap(void*) { CmiAbort("a mode was taken for the index of a handler"); }

void send_offer(int to, const CmiNcpyBuffer& source) {
  auto* offer = static_cast<Offer*>(CmiAlloc(sizeof(Offer)));
  offer->root = CmiMyPe();
  offer->source = source;
  CmiSetHandler(offer, state.on_offer);
  CmiSyncSendAndFree(to, sizeof(Offer), offer);
}

void send_next() {
  void* next = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(next, state.on_next);
  CmiSyncSendAndFree(CmiMyPe(), CmiMsgHeaderSizeBytes, next);
}

// Part 0: objects of the stack with modes in the third place, kRounds of them; each ends itself.
void read_own() {
  CmiNcpyBuffer source(state.source, kBytes, CMK_BUFFER_UNREG);
  const unsigned short mode = CMK_BUFFER_REG;
  CmiNcpyBuffer destination(state.destination, kBytes, mode);
  if (source.regMode != CMK_BUFFER_UNREG || source.isRegistered) CmiAbort("no mode was taken");
  CmiNcpyBuffer kept(state.source, kBytes, CMK_BUFFER_NODEREG);
  if (kept.regMode != CMK_BUFFER_REG || kept.deregMode != CMK_BUFFER_NODEREG)
    CmiAbort("no mode of deregistration was taken");
  kept.deregisterMem();
  memset(state.destination, 0, kBytes);
  destination.rdmaGet(source, 0, nullptr, nullptr);
  if (state.acks % 2 != 0) CmiAbort("an ack ran inside the call");
}

// Part 1: the last PE reads by one object whose buffer ends each time.
void read_from(const CmiNcpyBuffer& source) { state.landing.get(source); }

void take_ack(void* user) {
  auto* info = static_cast<NcpyOperationInfo*>(user);
  if (info->srcAckSize != 0 || info->srcRef != nullptr) CmiAbort("an ack has what nobody gave");
  ++state.acks;
  if (state.acks % 2 != 0) return;
  if (info->ackMode != CMK_DEST_ACK) CmiAbort("the ack of the source came last");
  if (memcmp(state.source, state.destination, kBytes) != 0) CmiAbort("the bytes are not there");
  send_next();
}

void take_index(void* message) {
  const auto* done = static_cast<CmiNcpyDone*>(message);
  if (done->ptr != state.destination || done->size != kBytes || done->isSource != 0)
    CmiAbort("the done of an index tells nonsense");
  ++state.indexed;
  CmiFree(message);
  send_next();
}

void take_source_done(CmiNcpyDone* done) {
  if (done->isSource == 0 || done->size != kBytes) CmiAbort("no done of the source");
  if (++state.source_dones != CmiNumPes()) return;
  const CmiNcpyBuffer copy = state.persistent;
  state.persistent.deregisterMem();
  if (!copy.isRegistered || state.persistent.isRegistered) CmiAbort("a copy has learnt something");
  CmiNcpyBuffer(copy).deregisterMem();  // nothing is left to end
  state.persistent.registerMem();
  if (memcmp(copy.layerInfo, state.persistent.layerInfo, sizeof copy.layerInfo) == 0)
    CmiAbort("the buffer is the one that was ended");
  state.persistent.deregisterMem();
  CmiPrintf("ok ncpy_modes\n");
  CmiSetHandler(done, state.on_end);  // it is given away, so nobody frees it behind this call
  CmiSyncBroadcastAllAndFree(CmiSize(done), done);
}

void take_destination_done(CmiNcpyDone* done) {
  CmiSetHandler(done, state.on_queued);
  CsdEnqueue(done);
  if (memcmp(state.source, state.destination, kBytes) != 0) CmiAbort("the source did not come");
}

void take_queued(void* message) {  // a done that was given away
  if (static_cast<CmiNcpyDone*>(message)->ptr != state.destination) CmiAbort("it was freed");
  CmiFree(message);
}

// Part 2: all PEs read what PE 0 offers.
void take_offer(void* message) {
  const CmiNcpyBuffer source = static_cast<Offer*>(message)->source;
  CmiFree(message);
  memset(state.destination, 0, kBytes);
  CmiNcpyBuffer destination(state.destination, kBytes, take_destination_done);
  destination.get(source);
}

void take_next(void* message) {
  CmiFree(message);
  if (++state.round == kRounds) {
    state.round = 0;
    ++state.part;
  }
  if (state.part == 0) return read_own();
  if (state.part == 1) {
    if (state.round == 0) state.landing = CmiNcpyBuffer(state.destination, kBytes, state.on_index);
    return read_from(state.persistent);
  }
  if (state.indexed != kRounds) CmiAbort("the handler has run %d times", state.indexed);
  state.landing.deregisterMem();
  state.persistent.deregisterMem();
  state.persistent = CmiNcpyBuffer(state.source, kBytes, take_source_done);
  for (int pe = 0; pe < CmiNumPes(); ++pe) send_offer(pe, state.persistent);
}

void take_end(void* message) {
  CmiFree(message);
  ConverseExit();
}

void start(int, char**) {
  CmiSetDirectNcpyAckHandler(take_ack);
  state.on_trap = CmiRegisterHandler(trap);
  state.on_trap_too = CmiRegisterHandler(trap);
  state.on_offer = CmiRegisterHandler(take_offer);
  state.on_end = CmiRegisterHandler(take_end);
  state.on_next = CmiRegisterHandler(take_next);
  state.on_index = CmiRegisterHandler(take_index);
  state.on_queued = CmiRegisterHandler(take_queued);
  for (int at = 0; at < kBytes; ++at) state.source[at] = static_cast<char>(at * 3);
  if (CmiMyPe() != 0) return;
  state.persistent = CmiNcpyBuffer(state.source, kBytes, nullptr);
  read_own();
}

}  // namespace

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 1;
}
