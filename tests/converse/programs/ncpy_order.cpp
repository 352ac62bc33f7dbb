// Objects that have a function as well as acks. The last PE reads from PE 0 and writes to it, six
// operations at a time, some without acks: at both sides each ack comes behind its own done.
#include <converse.h>

namespace {

constexpr int kSlots = 6;
constexpr int kRounds = 200;  // of each slot
constexpr size_t kBytes = 4096;

enum Way { kRead, kPlainRead, kWrite, kWays };

Way way_of(int slot) { return static_cast<Way>(slot % kWays); }

// What PE 0 offers: a source for all slots, and a destination of each slot that writes.
struct Offer {
  char header[CmiMsgHeaderSizeBytes];
  CmiNcpyBuffer source;
  CmiNcpyBuffer destinations[kSlots];
};

// In the ack bytes: the buffer, and how many operations on it were over when this one began.
struct Words {
  int slot;  // of a destination; -1: the source
  int over;
};

// On PE 0.
struct Offering {
  CmiNcpyBuffer source;
  CmiNcpyBuffer destinations[kSlots];
  char memory[kBytes];
  char landing[kSlots][kBytes];
  int source_dones = 0;
  int slot_dones[kSlots] = {};
  int acks = 0;
};

// On the last PE.
struct Using {
  Offer offer;
  CmiNcpyBuffer own[kSlots];
  char memory[kSlots][kBytes];
  int begun[kSlots] = {};
  int dones[kSlots] = {};
  int source_over = 0;
  bool is_begun = false;
};

struct State {
  Offering offering;
  Using use;
  int on_offer, on_end;
};

thread_local State* state;

int acks_of_all() {
  int acks = 0;
  for (int slot = 0; slot < kSlots; ++slot)
    if (way_of(slot) != kPlainRead) acks += kRounds;
  return acks;
}

void take_offered_done(void* message) {
  const auto* done = static_cast<CmiNcpyDone*>(message);
  Offering& offering = state->offering;
  if (done->isSource != 0) {
    ++offering.source_dones;
    return;
  }
  for (int slot = 0; slot < kSlots; ++slot)
    if (done->ptr == offering.landing[slot]) ++offering.slot_dones[slot];
}

void begin(int slot);

void take_own_done(void* message) {
  const auto* done = static_cast<CmiNcpyDone*>(message);
  Using& use = state->use;
  for (int slot = 0; slot < kSlots; ++slot)
    if (done->ptr == use.memory[slot]) {
      ++use.dones[slot];
      if (way_of(slot) != kWrite) ++use.source_over;
      if (way_of(slot) == kPlainRead) begin(slot);
    }
}

void take_own_ack(const Words& words, int slot) {
  if (state->use.dones[slot] != state->use.begun[slot])
    CmiAbort("slot %d: the own ack came before its done", slot);
  if (words.slot != slot) CmiAbort("slot %d has an ack of slot %d", slot, words.slot);
  begin(slot);
}

void end_all() {
  Offering& offering = state->offering;
  offering.source.deregisterMem();
  for (CmiNcpyBuffer& one : offering.destinations) one.deregisterMem();
  void* end = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(end, state->on_end);
  CmiSyncBroadcastAllAndFree(CmiMsgHeaderSizeBytes, end);
}

void take_offered_ack(const Words& words) {
  Offering& offering = state->offering;
  const int dones = words.slot < 0 ? offering.source_dones : offering.slot_dones[words.slot];
  if (dones < words.over + 1)
    CmiAbort("slot %d: an ack came before its done: %d of %d", words.slot, dones, words.over + 1);
  if (++offering.acks == acks_of_all()) end_all();
}

void take_ack(void* user) {
  const auto* info = static_cast<NcpyOperationInfo*>(user);
  const bool is_source = info->ackMode == CMK_SRC_ACK;
  Words words;
  memcpy(&words, is_source ? info->srcAck : info->destAck, sizeof words);
  const void* const own = is_source ? info->srcPtr : info->destPtr;
  for (int slot = 0; slot < kSlots; ++slot)
    if (own == state->use.memory[slot]) return take_own_ack(words, slot);
  take_offered_ack(words);
}

void begin(int slot) {
  Using& use = state->use;
  if (use.begun[slot] == kRounds) return;
  ++use.begun[slot];
  Words own{slot, 0};
  Words other{-1, use.source_over};
  if (way_of(slot) == kWrite) other = {slot, use.begun[slot] - 1};
  const int size = sizeof(Words);
  const char* const own_words = reinterpret_cast<const char*>(&own);
  const char* const other_words = reinterpret_cast<const char*>(&other);
  switch (way_of(slot)) {
    case kRead: use.own[slot].rdmaGet(use.offer.source, size, other_words, own_words); break;
    case kPlainRead: use.own[slot].get(use.offer.source); break;
    default: use.own[slot].rdmaPut(use.offer.destinations[slot], size, own_words, other_words);
  }
}

void take_offer(void* message) {
  Using& use = state->use;
  use.offer = *static_cast<Offer*>(message);
  use.is_begun = true;
  CmiFree(message);
  for (int slot = 0; slot < kSlots; ++slot)
    use.own[slot] = CmiNcpyBuffer(use.memory[slot], kBytes, take_own_done);
  for (int slot = 0; slot < kSlots; ++slot) begin(slot);
}

// All acks of PE 0 have come; reads without acks may be under way.
void take_end(void* message) {
  Using& use = state->use;
  bool is_over = true;
  if (use.is_begun)
    for (int slot = 0; slot < kSlots; ++slot) is_over = is_over && use.dones[slot] == kRounds;
  if (!is_over) return CmiSyncSendAndFree(CmiMyPe(), CmiMsgHeaderSizeBytes, message);
  for (int slot = 0; slot < kSlots && use.is_begun; ++slot) use.own[slot].deregisterMem();
  CmiFree(message);
  if (CmiMyPe() == 0) CmiPrintf("ok ncpy_order\n");
  delete state;
  ConverseExit();
}

void start(int, char**) {
  state = new State{};
  CmiSetDirectNcpyAckHandler(take_ack);
  state->on_offer = CmiRegisterHandler(take_offer);
  state->on_end = CmiRegisterHandler(take_end);
  if (CmiMyPe() != 0) return;
  Offering& offering = state->offering;
  auto* offer = static_cast<Offer*>(CmiAlloc(sizeof(Offer)));
  offer->source = offering.source = CmiNcpyBuffer(offering.memory, kBytes, take_offered_done);
  for (int slot = 0; slot < kSlots; ++slot)
    offer->destinations[slot] = offering.destinations[slot] =
        CmiNcpyBuffer(offering.landing[slot], kBytes, take_offered_done);
  CmiSetHandler(offer, state->on_offer);
  CmiSyncSendAndFree(CmiNumPes() - 1, sizeof(Offer), offer);
}

}  // namespace

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 1;
}
