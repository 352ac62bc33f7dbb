// All PEs read a buffer of PE 0 that is CMK_BUFFER_DEREG and CMK_BUFFER_UNREG: PE 0 issues what
// others begin, and the buffer ends when none of that is under way. A reader that comes later may
// be told that it has ended.
#include <converse.h>

#include <vector>

namespace {

constexpr size_t kBytes = 70000;

struct Offer {
  char header[CmiMsgHeaderSizeBytes];
  CmiNcpyBuffer source;
};

struct State {
  std::vector<char> memory;
  int over = 0;  // on PE 0
  int on_offer, on_over, on_end;
};

thread_local State state;

void send(int pe, int handler) {
  void* message = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(message, handler);
  CmiSyncSendAndFree(pe, CmiMsgHeaderSizeBytes, message);
}

void take_done(void*) {
  for (size_t at = 0; at < kBytes; ++at)
    if (state.memory[at] != static_cast<char>(at * 7)) CmiAbort("byte %zu is wrong", at);
  send(0, state.on_over);
}

void take_offer(void* message) {
  state.memory.resize(kBytes);
  CmiNcpyBuffer own(state.memory.data(), kBytes, take_done);
  own.get(static_cast<Offer*>(message)->source);
  CmiFree(message);
}

void take_over(void* message) {
  CmiFree(message);
  if (++state.over != CmiNumPes() - 1) return;
  CmiPrintf("ok ncpy_shared\n");
  for (int pe = 0; pe < CmiNumPes(); ++pe) send(pe, state.on_end);
}

void take_end(void* message) {
  CmiFree(message);
  ConverseExit();
}

void start(int, char**) {
  state.on_offer = CmiRegisterHandler(take_offer);
  state.on_over = CmiRegisterHandler(take_over);
  state.on_end = CmiRegisterHandler(take_end);
  CmiNodeAllBarrier();
  if (CmiMyPe() != 0) return;
  state.memory.resize(kBytes);
  for (size_t at = 0; at < kBytes; ++at) state.memory[at] = static_cast<char>(at * 7);
  auto* offer = static_cast<Offer*>(CmiAlloc(sizeof(Offer)));
  offer->source = CmiNcpyBuffer(state.memory.data(), kBytes, CMK_BUFFER_UNREG, CMK_BUFFER_DEREG);
  CmiSetHandler(offer, state.on_offer);
  CmiSyncBroadcastAndFree(sizeof(Offer), offer);
}

}  // namespace

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 1;
}
