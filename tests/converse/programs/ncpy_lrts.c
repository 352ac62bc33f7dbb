/* The paper's lower layer from C: PE 0 reads from the last PE, and writes to it, without an object.
 * Each side has its own bytes of the ack, and its own ack. */
#include <converse.h>

enum { kBytes = 70000, kRounds = 20, kKept = 10 };

typedef struct Offer {
  char header[CmiMsgHeaderSizeBytes];
  char info[CMK_NOCOPY_DIRECT_BYTES];
} Offer;

typedef struct Sides {
  char* remote; /* of the last PE */
  char remote_info[CMK_NOCOPY_DIRECT_BYTES];
  char* own; /* of PE 0 */
  char own_info[CMK_NOCOPY_DIRECT_BYTES];
  char peer_info[CMK_NOCOPY_DIRECT_BYTES]; /* the remote one's, as it came to PE 0 */
  int acks, round;
  int on_offer, on_ack, on_end;
  char source_ack[3], destination_ack[3];
  NcpyOperationInfo kept; /* of all rounds from kKept on */
} Sides;

CpvStaticDeclare(Sides, sides);

static void fail(const char* words) { CmiAbort("round %d: %s", CpvAccess(sides).round, words); }

static char letter_of(int round) { return (char)('a' + round); }

/* Even rounds read, odd ones write. What was issued before needs its ackMode anew, for the ack has
 * the own side there. */
static void issue(void) {
  Sides* sides = &CpvAccess(sides);
  const int is_read = sides->round % 2 == 0;
  const int is_kept = sides->round >= kKept;
  NcpyOperationInfo* info = is_kept ? &sides->kept : CmiAlloc(sizeof(NcpyOperationInfo));
  const int own_side = is_read ? CMK_SRC_ACK : CMK_DEST_ACK; /* of the round before */
  if (sides->round > kKept && info->ackMode != own_side) fail("ackMode is not the own side");
  if (sides->round <= kKept) memset(info, 0, sizeof *info);
  info->srcLayerInfo = is_read ? sides->peer_info : sides->own_info;
  info->destLayerInfo = is_read ? sides->own_info : sides->peer_info;
  info->srcSize = info->destSize = kBytes;
  info->srcAck = sides->source_ack;
  info->destAck = sides->destination_ack;
  info->srcAckSize = info->destAckSize = 3;
  info->ackMode = CMK_SRC_DEST_ACK;
  info->freeMe = is_kept ? CMK_DONT_FREE_NCPYOPINFO : CMK_FREE_NCPYOPINFO;
  memcpy(sides->source_ack, "src", 3);
  memcpy(sides->destination_ack, "dst", 3);
  if (!is_read) memset(sides->own, letter_of(sides->round), kBytes);
  if (is_read)
    LrtsIssueRget(info);
  else
    LrtsIssueRput(info);
}

static void take_ack(void* user) {
  Sides* sides = &CpvAccess(sides);
  NcpyOperationInfo* info = user;
  const int is_source = info->ackMode == CMK_SRC_ACK;
  if (is_source && memcmp(info->srcAck, "src", 3) != 0) fail("no ack of the source");
  if (!is_source && memcmp(info->destAck, "dst", 3) != 0) fail("no ack of the destination");
  if (info->srcPtr != NULL || info->destPtr != NULL) fail("a pointer that nobody gave");
  if (info->freeMe == CMK_FREE_NCPYOPINFO) CmiFree(info);
  Offer* heard = CmiAlloc(sizeof(Offer));
  CmiSetHandler(heard, sides->on_ack);
  CmiSyncSendAndFree(0, sizeof(Offer), heard);
}

static void look(void) {
  Sides* sides = &CpvAccess(sides);
  if (sides->round % 2 != 0) return;
  for (int at = 0; at < kBytes; ++at)
    if (sides->own[at] != letter_of(sides->round == 0 ? 0 : sides->round - 1))
      fail("a byte is wrong");
}

/* On PE 0. */
static void take_heard(void* message) {
  Sides* sides = &CpvAccess(sides);
  CmiFree(message);
  if (++sides->acks % 2 != 0) return;
  look();
  if (++sides->round < kRounds) {
    issue();
    return;
  }
  LrtsDeregisterMem(sides->own, sides->own_info, CmiMyPe(), CMK_BUFFER_REG);
  CmiPrintf("ok ncpy_lrts\n");
  void* end = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(end, sides->on_end);
  CmiSyncBroadcastAllAndFree(CmiMsgHeaderSizeBytes, end);
}

static void take_offer(void* message) {
  Sides* sides = &CpvAccess(sides);
  memcpy(sides->peer_info, ((Offer*)message)->info, CMK_NOCOPY_DIRECT_BYTES);
  CmiFree(message);
  sides->own = malloc(kBytes);
  LrtsSetRdmaBufferInfo(sides->own_info, sides->own, kBytes, CMK_BUFFER_REG);
  issue();
}

static void take_end(void* message) {
  Sides* sides = &CpvAccess(sides);
  CmiFree(message);
  if (sides->remote != NULL)
    LrtsDeregisterMem(sides->remote, sides->remote_info, CmiMyPe(), CMK_BUFFER_REG);
  ConverseExit();
}

static void start(int argc, char** argv) {
  (void)argc;
  (void)argv;
  CpvInitialize(Sides, sides);
  Sides* sides = &CpvAccess(sides);
  CmiSetDirectNcpyAckHandler(take_ack);
  sides->on_offer = CmiRegisterHandler(take_offer);
  sides->on_ack = CmiRegisterHandler(take_heard);
  sides->on_end = CmiRegisterHandler(take_end);
  if (CmiMyPe() != CmiNumPes() - 1) return;
  sides->remote = malloc(kBytes);
  memset(sides->remote, letter_of(0), kBytes);
  LrtsSetRdmaBufferInfo(sides->remote_info, sides->remote, kBytes, CMK_BUFFER_REG);
  Offer* offer = CmiAlloc(sizeof(Offer));
  memcpy(offer->info, sides->remote_info, CMK_NOCOPY_DIRECT_BYTES);
  CmiSetHandler(offer, sides->on_offer);
  CmiSyncSendAndFree(0, sizeof(Offer), offer);
}

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 1;
}
