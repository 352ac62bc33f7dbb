// Chains of reads and quiescence: each PE reads from all PEs in turn, and each done begins the next
// read. PE 0 asks for quiescence before the first of them; when its function runs nothing is left,
// so all dones of both sides have run on all PEs.
#include <converse.h>

#include <vector>

namespace {

constexpr int kReads = 60;  // of each PE
constexpr int kAsked = 3;   // times, one behind the other
constexpr size_t kBytes = 3000;

struct Offer {
  char header[CmiMsgHeaderSizeBytes];
  int pe;
  CmiNcpyBuffer source;
};

struct Count {
  char header[CmiMsgHeaderSizeBytes];
  int begun, read, served;
};

struct State {
  char memory[kBytes];
  char landing[kBytes];
  CmiNcpyBuffer source, own;
  std::vector<CmiNcpyBuffer> sources;  // of all PEs
  int offers = 0, begun = 0, read = 0, served = 0;
  // On PE 0.
  Count all{};
  int counted = 0, asked = 0;
  int on_offer, on_read, on_served, on_ask, on_count, on_end;
};

thread_local State* state;

void send_all(int handler) {
  void* message = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(message, handler);
  CmiSyncBroadcastAllAndFree(CmiMsgHeaderSizeBytes, message);
}

void begin_next() {
  if (state->begun == kReads * (state->asked + 1)) return;
  const int pe = (CmiMyPe() + 1 + state->begun) % CmiNumPes();
  ++state->begun;
  state->own.get(state->sources[static_cast<size_t>(pe)]);
}

void take_offer(void* message) {
  const auto* offer = static_cast<Offer*>(message);
  state->sources[static_cast<size_t>(offer->pe)] = offer->source;
  CmiFree(message);
  if (++state->offers == CmiNumPes()) begin_next();
}

void take_read(void* message) {
  const auto* done = static_cast<CmiNcpyDone*>(message);
  for (size_t at = 0; at < kBytes; ++at)
    if (state->landing[at] != static_cast<char>(done->pe)) CmiAbort("byte %zu is wrong", at);
  CmiFree(message);
  ++state->read;
  begin_next();
}

void take_served(void* message) {
  CmiFree(message);
  ++state->served;
}

void take_quiescence(void*) { send_all(state->on_ask); }

void take_ask(void* message) {
  CmiFree(message);
  auto* count = static_cast<Count*>(CmiAlloc(sizeof(Count)));
  count->begun = state->begun;
  count->read = state->read;
  count->served = state->served;
  CmiSetHandler(count, state->on_count);
  CmiSyncSendAndFree(0, sizeof(Count), count);
}

// On PE 0: all have said how far they are.
void look() {
  const int wanted = kReads * CmiNumPes() * (state->counted / CmiNumPes());
  if (state->all.begun != wanted || state->all.read != wanted || state->all.served != wanted)
    CmiAbort("quiescence came at %d begun, %d read and %d served of %d", state->all.begun,
             state->all.read, state->all.served, wanted);
  state->all = {};
}

void take_count(void* message) {
  const auto* count = static_cast<Count*>(message);
  state->all.begun += count->begun;
  state->all.read += count->read;
  state->all.served += count->served;
  CmiFree(message);
  if (++state->counted % CmiNumPes() != 0) return;
  look();
  if (state->counted == kAsked * CmiNumPes()) CmiPrintf("ok ncpy_quiescence\n");
  send_all(state->on_end);
}

// The next chains, or the end.
void take_end(void* message) {
  CmiFree(message);
  if (++state->asked == kAsked) {
    delete state;
    ConverseExit();
  }
  if (CmiMyPe() == 0) CmiStartQD(take_quiescence, nullptr);
  begin_next();
}

void start(int, char**) {
  state = new State{};
  state->sources.resize(static_cast<size_t>(CmiNumPes()));
  state->on_offer = CmiRegisterHandler(take_offer);
  state->on_read = CmiRegisterHandler(take_read);
  state->on_served = CmiRegisterHandler(take_served);
  state->on_ask = CmiRegisterHandler(take_ask);
  state->on_count = CmiRegisterHandler(take_count);
  state->on_end = CmiRegisterHandler(take_end);
  memset(state->memory, CmiMyPe(), kBytes);
  state->source = CmiNcpyBuffer(state->memory, kBytes, state->on_served);
  state->own = CmiNcpyBuffer(state->landing, kBytes, state->on_read);
  auto* offer = static_cast<Offer*>(CmiAlloc(sizeof(Offer)));
  offer->pe = CmiMyPe();
  offer->source = state->source;
  CmiSetHandler(offer, state->on_offer);
  if (CmiMyPe() == 0) CmiStartQD(take_quiescence, nullptr);
  CmiSyncBroadcastAllAndFree(sizeof(Offer), offer);
}

}  // namespace

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 1;
}
