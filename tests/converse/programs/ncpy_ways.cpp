// PE 0 reads from, and writes to, buffers of the last PE: with each form of object, and in sizes
// from nothing to what goes in pieces. Each byte is looked at, and each done and ack is counted.
#include <converse.h>

#include <vector>

namespace {

// kBoth: a function and acks. kLayers: the calls Lrts...
enum Form { kFunction, kIndex, kAcks, kBoth, kLayers, kForms };
constexpr size_t kSizes[] = {0, 1, 4096, 300000, 5 << 20};
constexpr int kSizesCount = sizeof kSizes / sizeof *kSizes;
constexpr int kModes = 3;  // REG, UNREG, PREREG: of both sides
constexpr int kCases = 2 * kForms * kSizesCount * kModes;
constexpr int kAckBytes = 16;

struct Case {
  bool is_get;
  Form form;
  int mode;
  size_t size;
};

Case case_of(int number) {
  Case one{};
  one.is_get = number % 2 == 0;
  one.form = static_cast<Form>(number / 2 % kForms);
  one.mode = number / 2 / kForms % kModes;
  one.size = kSizes[number / 2 / kForms / kModes];
  return one;
}

struct Note {
  char header[CmiMsgHeaderSizeBytes];
  int number;
  CmiNcpyBuffer object;
};

// What a PE has of one side; on one PE there are both.
struct Side {
  std::vector<char> bytes;
  char* memory = nullptr;
  CmiNcpyBuffer object;
  int dones = 0;
  int function_dones = 0;  // of kBoth
};

struct State {
  Side own, peer;
  int number = 0;
  int reports = 0;  // on PE 0: sides that are over
  int source_dones = 0;
  bool is_in_call = false;
  int on_prepare, on_offer, on_over, on_end, on_done;
};

thread_local State state;

char byte_at(size_t at, int number) { return static_cast<char>(at * 7 + number); }

void report() {
  Note note;
  note.number = state.number;
  CmiInitMsgHeader(&note, sizeof note);
  CmiSetHandler(&note, state.on_over);
  CmiSyncSend(0, sizeof note, &note);
}

Side& side_of(bool is_source) {
  return is_source == case_of(state.number).is_get ? state.peer : state.own;
}

// One done or ack of this PE's side, where all bytes are what they must be.
void hear(bool is_source, size_t moved) {
  const Case one = case_of(state.number);
  if (state.is_in_call) CmiAbort("case %d: a done ran inside the call", state.number);
  if (moved != one.size) CmiAbort("case %d: %zu bytes were moved", state.number, moved);
  if (is_source) ++state.source_dones;
  if (CmiNumPes() == 1 && !is_source && state.source_dones == 0)
    CmiAbort("case %d: the destination's done came first", state.number);
  Side& side = side_of(is_source);
  if (++side.dones != 1) CmiAbort("case %d: a side has a second done", state.number);
  for (size_t at = 0; at < one.size; ++at)
    if (side.memory[at] != byte_at(at, state.number))
      CmiAbort("case %d: byte %zu is wrong", state.number, at);
  report();
}

int take_function(CmiNcpyDone* done) {  // whoever does not free it leaves it to the library
  if (case_of(state.number).form == kBoth)
    ++side_of(done->isSource != 0).function_dones;
  else
    hear(done->isSource != 0, done->size);
  if (state.number % 4 < 2) CmiFree(done);
  return 0;
}

void take_done(void* message) {
  const auto* done = static_cast<CmiNcpyDone*>(message);
  hear(done->isSource != 0, done->size);
  CmiFree(message);
}

void check_ack(const char* ack, int size, char letter) {
  if (size != kAckBytes) CmiAbort("case %d: an ack of %d bytes", state.number, size);
  for (int at = 0; at < size; ++at)
    if (ack[at] != letter) CmiAbort("case %d: byte %d of the ack is wrong", state.number, at);
}

void take_ack(void* user) {
  auto* info = static_cast<NcpyOperationInfo*>(user);
  const bool is_source = info->ackMode == CMK_SRC_ACK;
  if (!is_source && info->ackMode != CMK_DEST_ACK) CmiAbort("an ack of mode %d", info->ackMode);
  if (is_source)
    check_ack(info->srcAck, info->srcAckSize, 's');
  else
    check_ack(info->destAck, info->destAckSize, 'd');
  if (case_of(state.number).form == kBoth && side_of(is_source).function_dones != 1)
    CmiAbort("case %d: the ack came before its done", state.number);
  hear(is_source, info->srcSize);
  if (info->refPtr != nullptr) return free(info->refPtr);  // made by begin_layers()
  if (state.number % 4 < 2) CmiFree(info);
}

// `is_source`: of this side.
void make(Side& side, bool is_source) {
  const Case one = case_of(state.number);
  const unsigned short mode = static_cast<unsigned short>(one.mode);
  if (mode == CMK_BUFFER_PREREG) {
    side.memory = static_cast<char*>(CmiAlloc(static_cast<CmiInt8>(one.size) + 64));
  } else {
    side.bytes.resize(one.size + 1);
    side.memory = side.bytes.data();
  }
  for (size_t at = 0; at < one.size; ++at)
    side.memory[at] = is_source ? byte_at(at, state.number) : '\0';
  side.dones = side.function_dones = 0;
  if (one.form == kFunction || one.form == kBoth)
    side.object = CmiNcpyBuffer(side.memory, one.size, take_function);
  else if (one.form == kIndex)
    side.object = CmiNcpyBuffer(side.memory, one.size, state.on_done);
  else
    side.object = CmiNcpyBuffer(side.memory, one.size, mode,
                                state.number % 3 == 0 ? CMK_BUFFER_DEREG : CMK_BUFFER_NODEREG);
  if (one.form == kLayers) {
    side.object.deregisterMem();
    LrtsSetRdmaBufferInfo(side.object.layerInfo, side.memory, static_cast<int>(one.size), mode);
  }
}

void end(Side& side) {
  const Case one = case_of(state.number);
  if (one.form == kLayers)
    LrtsDeregisterMem(side.memory, side.object.layerInfo, CmiMyPe(), one.mode);
  const CmiNcpyBuffer copy = side.object;
  side.object.deregisterMem();
  side.object = copy;
  side.object.deregisterMem();  // as all copies may
  if (one.mode == CMK_BUFFER_PREREG) CmiFree(side.memory);
  side.memory = nullptr;
}

void begin_layers(const CmiNcpyBuffer& source, const CmiNcpyBuffer& destination) {
  struct Operation {
    NcpyOperationInfo info;
    CmiNcpyBuffer source, destination;
    char acks[2][kAckBytes];
  };
  auto* operation = static_cast<Operation*>(calloc(1, sizeof(Operation)));
  operation->source = source;
  operation->destination = destination;
  memset(operation->acks[0], 's', kAckBytes);
  memset(operation->acks[1], 'd', kAckBytes);
  NcpyOperationInfo& info = operation->info;
  info.srcPtr = source.ptr;
  info.srcSize = source.cnt;
  info.srcLayerInfo = operation->source.layerInfo;
  info.srcAck = operation->acks[0];
  info.srcAckSize = kAckBytes;
  info.destPtr = destination.ptr;
  info.destSize = destination.cnt;
  info.destLayerInfo = operation->destination.layerInfo;
  info.destAck = operation->acks[1];
  info.destAckSize = kAckBytes;
  info.freeMe = CMK_DONT_FREE_NCPYOPINFO;
  info.refPtr = operation;
  if (case_of(state.number).is_get)
    LrtsIssueRget(&info);
  else
    LrtsIssueRput(&info);
}

void begin(const CmiNcpyBuffer& peer) {
  const Case one = case_of(state.number);
  CmiNcpyBuffer& own = state.own.object;
  char source_ack[kAckBytes];
  char destination_ack[kAckBytes];
  memset(source_ack, 's', kAckBytes);
  memset(destination_ack, 'd', kAckBytes);
  state.is_in_call = true;
  if (one.form == kLayers)
    begin_layers(one.is_get ? peer : own, one.is_get ? own : peer);
  else if ((one.form == kAcks || one.form == kBoth) && one.is_get)
    own.rdmaGet(peer, kAckBytes, source_ack, destination_ack);
  else if (one.form == kAcks || one.form == kBoth)
    own.rdmaPut(peer, kAckBytes, source_ack, destination_ack);
  else if (one.is_get)
    own.get(peer);
  else
    own.put(peer);
  state.is_in_call = false;
}

void send_note(int to, int handler, const CmiNcpyBuffer& object) {
  auto* note = static_cast<Note*>(CmiAlloc(sizeof(Note)));
  note->number = state.number;
  note->object = object;
  CmiSetHandler(note, handler);
  CmiSyncSendAndFree(to, sizeof(Note), note);
}

// On the last PE.
void take_prepare(void* message) {
  if (state.peer.memory != nullptr) end(state.peer);
  state.number = static_cast<Note*>(message)->number;
  state.source_dones = 0;
  CmiFree(message);
  make(state.peer, case_of(state.number).is_get);
  send_note(0, state.on_offer, state.peer.object);
}

// On PE 0.
void take_offer(void* message) {
  make(state.own, !case_of(state.number).is_get);
  const CmiNcpyBuffer peer = static_cast<Note*>(message)->object;
  CmiFree(message);
  begin(peer);
}

// On PE 0: one of the two sides is over.
void take_over(void* message) {
  if (static_cast<Note*>(message)->number != state.number) CmiAbort("a late done");
  CmiFree(message);
  if (++state.reports % 2 != 0) return;
  end(state.own);
  if (CmiNumPes() == 1) end(state.peer);
  if (state.number + 1 == kCases) {
    CmiPrintf("ok ncpy_ways\n");
    void* last = CmiAlloc(CmiMsgHeaderSizeBytes);
    CmiSetHandler(last, state.on_end);
    return CmiSyncBroadcastAllAndFree(CmiMsgHeaderSizeBytes, last);
  }
  ++state.number;
  send_note(CmiNumPes() - 1, state.on_prepare, CmiNcpyBuffer());
}

void take_end(void* message) {
  CmiFree(message);
  ConverseExit();
}

void start(int, char**) {
  CmiSetDirectNcpyAckHandler(take_ack);
  state.on_prepare = CmiRegisterHandler(take_prepare);
  state.on_offer = CmiRegisterHandler(take_offer);
  state.on_over = CmiRegisterHandler(take_over);
  state.on_end = CmiRegisterHandler(take_end);
  state.on_done = CmiRegisterHandler(take_done);
  if (CmiMyPe() == 0) send_note(CmiNumPes() - 1, state.on_prepare, CmiNcpyBuffer());
}

}  // namespace

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 1;
}
