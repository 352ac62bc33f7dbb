// PE 0 and the last PE exchange messages of growing sizes, and look at each byte.
#include <converse.h>

namespace {

constexpr int kRounds = 20;
constexpr CmiInt8 kSizes[] = {8, 9, 64, 1000, 16384, 300000};
constexpr int kSizesCount = sizeof kSizes / sizeof *kSizes;

CpvStaticDeclare(int, on_ball);
CpvStaticDeclare(int, on_end);
CpvStaticDeclare(int, turns);

unsigned char byte_at(CmiInt8 at, int turn) { return static_cast<unsigned char>(at * 7 + turn); }

void serve(void* message, CmiInt8 size, int turn) {
  auto* bytes = static_cast<unsigned char*>(message);
  for (CmiInt8 at = CmiMsgHeaderSizeBytes; at < size; ++at) bytes[at] = byte_at(at, turn);
  CmiSetHandler(message, CpvAccess(on_ball));
  const int to = CmiMyPe() == 0 ? CmiNumPes() - 1 : 0;
  CmiSyncSendAndFree(to, size, message);
}

void take_ball(void* message) {
  const int turn = CpvAccess(turns)++;
  const bool is_alone = CmiNumPes() == 1;
  const int exchange = is_alone ? turn : turn * 2 + (CmiMyPe() == 0 ? 1 : 0);
  const int sent = exchange / 2 / kRounds;
  if (CmiSize(message) != kSizes[sent])
    CmiAbort("turn %d: %lld bytes came, not %lld", turn, static_cast<long long>(CmiSize(message)),
             static_cast<long long>(kSizes[sent]));
  const auto* bytes = static_cast<const unsigned char*>(message);
  for (CmiInt8 at = CmiMsgHeaderSizeBytes; at < kSizes[sent]; ++at)
    if (bytes[at] != byte_at(at, exchange))
      CmiAbort("turn %d: byte %lld is wrong", turn, static_cast<long long>(at));
  const int next = exchange + 1;
  if (next == 2 * kRounds * kSizesCount) {
    CmiPrintf("ok ping_pong\n");
    CmiSetHandler(message, CpvAccess(on_end));
    return CmiSyncBroadcastAllAndFree(kSizes[sent], message);
  }
  const CmiInt8 size = kSizes[next / 2 / kRounds];
  if (size == kSizes[sent]) return serve(message, size, next);
  CmiFree(message);
  serve(CmiAlloc(size), size, next);
}

void take_end(void* message) {
  CmiFree(message);
  ConverseExit();
}

void start(int /*argc*/, char** /*argv*/) {
  CpvInitialize(int, on_ball);
  CpvInitialize(int, on_end);
  CpvInitialize(int, turns);
  CpvAccess(on_ball) = CmiRegisterHandler(take_ball);
  CpvAccess(on_end) = CmiRegisterHandler(take_end);
  if (CmiMyPe() == 0) serve(CmiAlloc(kSizes[0]), kSizes[0], 0);
}

}  // namespace

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 1;
}
