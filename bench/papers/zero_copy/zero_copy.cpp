// The ping-pong of Bhat, White and Kalé (section 4) in both interfaces of Converse: PE 0 and the
// last PE send an array to and fro, as a message or where it lies. `run` beside this file starts it
// on each way and reads its lines.
//
//   photonrun -n 2 zero_copy [+from BYTES] [+to BYTES] [+turns N] [+trips N] [+alloc]
//
//   regular:    rewrite outgoing --> copy into a message --> send --> copy into incoming --> read
//   zero-copy:  rewrite outgoing --> send its CmiNcpyBuffer --> incoming.get() --> done --> read
//
// Arrays are of the heap, or with +alloc of CmiAlloc(), whose memory peers of a host map; they and
// their objects are made once for each size, as in the paper. An array is rewritten by its owner
// before it is sent, which for zero-copy is when the done of the source has come, and read and
// checked where it has arrived. Neither is timed, in both interfaces alike; arrays below 1 KiB are
// the exception, since reading the clock would take longer.
#include <converse.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace {

constexpr CmiInt8 kTimedBelow_bytes = 1024;
constexpr CmiInt8 kBatch_bytes = CmiInt8{64} << 20;  // that so many trips of large arrays move
constexpr CmiInt8 kFewest = 4;

/** What both interfaces send: the array lies behind it, or is named by it. */
struct Ball {
  char header[CmiMsgHeaderSizeBytes];
  double own_s;  // that the sender has spent on its arrays so far
};

struct Offer {
  Ball ball;
  CmiNcpyBuffer array;
};

struct Order {
  char header[CmiMsgHeaderSizeBytes];
  CmiInt8 size_bytes;
};

enum Interface { kRegular, kZeroCopy, kInterfaces };

/** Memory of the heap, or of CmiAlloc(). */
struct Release {
  bool is_message = false;
  void operator()(CmiUInt8* array) const { is_message ? CmiFree(array) : std::free(array); }
};
using Array = std::unique_ptr<CmiUInt8[], Release>;

/** A PE of the two: its arrays, and what it does when its outgoing one may be rewritten. */
struct Side {
  CmiInt8 words = 0;
  Array outgoing, incoming;
  CmiNcpyBuffer source, destination;
  CmiUInt8 sent = 0, received = 0;  // arrays so far
  Interface answer = kRegular;      // that the last array came by
  bool is_free = true;              // nobody reads outgoing
  void (*when_free)(Side&) = nullptr;
  double own_s = 0, clock_s = 0;

  CmiInt8 bytes() const { return words * CmiInt8{sizeof(CmiUInt8)}; }
};

/** What PE 0 does: for each size, turns of a batch by each interface; the first ones warm up. */
struct Plan {
  CmiInt8 from_bytes = 64, to_bytes = CmiInt8{64} << 20;
  CmiInt8 most_trips = 1000;
  int turns = 5;
  bool is_allocated = false;  // arrays are of CmiAlloc()
  CmiInt8 trips = 0, trips_left = 0;
  int batch = 0;
  double begin_s = 0, own_before_s = 0, peer_own_s = 0;
  std::vector<double> samples_us[kInterfaces];
};

CpvStaticDeclare(Side*, side);
CpvStaticDeclare(Plan*, plan);
CpvStaticDeclare(int, on_ball);
CpvStaticDeclare(int, on_offer);
CpvStaticDeclare(int, on_order);
CpvStaticDeclare(int, on_ready);
CpvStaticDeclare(int, on_end);

int peer() { return CmiMyPe() == 0 ? CmiNumPes() - 1 : 0; }

// ---- Arrays
// --------------------------------------------------------------------------------------

CmiUInt8 seed_of(int pe, CmiUInt8 number) {
  return (number * 2 + (pe == 0 ? 1 : 0)) * 0x9E3779B97F4A7C15u;
}

/** Runs `work` on the own arrays, whose time is no part of a trip. */
template <class Work>
void untimed(Side& side, Work work) {
  if (side.bytes() < kTimedBelow_bytes) return work();
  const double begin_s = CmiWallTimer();
  work();
  side.own_s += CmiWallTimer() - begin_s + side.clock_s;
}

void rewrite(Side& side) {
  const CmiUInt8 seed = seed_of(CmiMyPe(), side.sent++);
  CmiUInt8* const words = side.outgoing.get();
  for (CmiInt8 at = 0; at < side.words; ++at) words[at] = seed + static_cast<CmiUInt8>(at);
}

void read(Side& side) {
  const CmiUInt8 seed = seed_of(peer(), side.received++);
  const CmiUInt8* const words = side.incoming.get();
  CmiUInt8 differences = 0;
  for (CmiInt8 at = 0; at < side.words; ++at)
    differences |= words[at] ^ (seed + static_cast<CmiUInt8>(at));
  if (differences != 0)
    CmiAbort("zero_copy: array %llu of %lld bytes arrived with wrong bytes",
             static_cast<unsigned long long>(side.received), static_cast<long long>(side.bytes()));
}

double clock_cost_s() {
  constexpr int kReads = 1000;
  const double begin_s = CmiWallTimer();
  for (int at = 1; at < kReads; ++at) CmiWallTimer();
  return (CmiWallTimer() - begin_s) / kReads;
}

// ---- Both interfaces
// -----------------------------------------------------------------------------

void send_regular(Side& side) {
  const CmiInt8 size = CmiInt8{sizeof(Ball)} + side.bytes();
  Ball* const ball = static_cast<Ball*>(CmiAlloc(size));
  ball->own_s = side.own_s;
  CmiMemcpy(ball + 1, side.outgoing.get(), static_cast<size_t>(side.bytes()));
  CmiSetHandler(ball, CpvAccess(on_ball));
  CmiSyncSendAndFree(peer(), size, ball);
}

void send_zero_copy(Side& side) {
  Offer* const offer = static_cast<Offer*>(CmiAlloc(sizeof(Offer)));
  offer->ball.own_s = side.own_s;
  offer->array = side.source;
  side.is_free = false;
  CmiSetHandler(offer, CpvAccess(on_offer));
  CmiSyncSendAndFree(peer(), sizeof(Offer), offer);
}

void send(Side& side) {
  untimed(side, [&side] { rewrite(side); });
  side.answer == kRegular ? send_regular(side) : send_zero_copy(side);
}

void do_when_free(Side& side, void (*action)(Side&)) {
  if (side.is_free) return action(side);
  side.when_free = action;
}

void end_batch(Side& side);

void array_is_there(Side& side) {
  untimed(side, [&side] { read(side); });
  if (CmiMyPe() == 0 && --CpvAccess(plan)->trips_left == 0) return do_when_free(side, end_batch);
  do_when_free(side, send);
}

void take_ball(void* message) {
  Side& side = *CpvAccess(side);
  Ball* const ball = static_cast<Ball*>(message);
  CpvAccess(plan)->peer_own_s = ball->own_s;
  side.answer = kRegular;
  CmiMemcpy(side.incoming.get(), ball + 1, static_cast<size_t>(side.bytes()));
  CmiFree(message);
  array_is_there(side);
}

void take_offer(void* message) {
  Side& side = *CpvAccess(side);
  Offer* const offer = static_cast<Offer*>(message);
  CpvAccess(plan)->peer_own_s = offer->ball.own_s;
  side.answer = kZeroCopy;
  side.destination.get(offer->array);
  CmiFree(message);
}

void source_done(void*) {
  Side& side = *CpvAccess(side);
  side.is_free = true;
  if (void (*const action)(Side&) = std::exchange(side.when_free, nullptr)) action(side);
}

void destination_done(void*) { array_is_there(*CpvAccess(side)); }

// ---- Sizes and turns
// -----------------------------------------------------------------------------

Array make_array(CmiInt8 size_bytes, bool is_message) {
  void* const memory =
      is_message ? CmiAlloc(size_bytes) : std::malloc(static_cast<size_t>(size_bytes));
  if (memory == nullptr) CmiAbort("zero_copy: no memory for an array");
  std::memset(memory, 0, static_cast<size_t>(size_bytes));
  return Array(static_cast<CmiUInt8*>(memory), Release{is_message});
}

void make_arrays(Side& side, CmiInt8 size_bytes) {
  if (side.words != 0) {
    side.source.deregisterMem();
    side.destination.deregisterMem();
  }
  side.words = size_bytes / CmiInt8{sizeof(CmiUInt8)};
  side.outgoing = make_array(side.bytes(), CpvAccess(plan)->is_allocated);
  side.incoming = make_array(side.bytes(), CpvAccess(plan)->is_allocated);
  const size_t bytes = static_cast<size_t>(side.bytes());
  side.source = CmiNcpyBuffer(side.outgoing.get(), bytes, source_done);
  side.destination = CmiNcpyBuffer(side.incoming.get(), bytes, destination_done);
}

void order(CmiInt8 size_bytes, int to, int handler) {
  Order* const message = static_cast<Order*>(CmiAlloc(sizeof(Order)));
  message->size_bytes = size_bytes;
  CmiSetHandler(message, handler);
  CmiSyncSendAndFree(to, sizeof(Order), message);
}

/** On the last PE: PE 0 goes on to a size, when the arrays of the one before are not read. */
void take_order(void* message) {
  static thread_local CmiInt8 size_bytes;
  size_bytes = static_cast<Order*>(message)->size_bytes;
  CmiFree(message);
  do_when_free(*CpvAccess(side), [](Side& side) {
    make_arrays(side, size_bytes);
    order(size_bytes, 0, CpvAccess(on_ready));
  });
}

void begin_batch(Side& side) {
  Plan& plan = *CpvAccess(plan);
  side.answer = static_cast<Interface>(plan.batch % kInterfaces);
  plan.trips_left = plan.trips;
  plan.own_before_s = side.own_s + plan.peer_own_s;
  plan.begin_s = CmiWallTimer();
  send(side);
}

/** On PE 0: the last PE has its arrays. */
void take_ready(void* message) {
  const CmiInt8 size_bytes = static_cast<Order*>(message)->size_bytes;
  CmiFree(message);
  Plan& plan = *CpvAccess(plan);
  for (std::vector<double>& samples : plan.samples_us) samples.clear();
  plan.trips = std::min(plan.most_trips, std::max(kFewest, kBatch_bytes / size_bytes));
  plan.batch = 0;
  make_arrays(*CpvAccess(side), size_bytes);
  begin_batch(*CpvAccess(side));
}

void print_row(const Side& side, Plan& plan) {
  for (std::vector<double>& samples : plan.samples_us) std::sort(samples.begin(), samples.end());
  const size_t middle = plan.samples_us[0].size() / 2;
  CmiPrintf("%lld %.4f %.4f %.4f %.4f\n", static_cast<long long>(side.bytes()),
            plan.samples_us[kRegular][0], plan.samples_us[kZeroCopy][0],
            plan.samples_us[kRegular][middle], plan.samples_us[kZeroCopy][middle]);
}

void end_batch(Side& side) {
  Plan& plan = *CpvAccess(plan);
  const double whole_s = CmiWallTimer() - plan.begin_s;
  const double own_s = side.own_s + plan.peer_own_s - plan.own_before_s;
  if (plan.batch >= kInterfaces)
    plan.samples_us[plan.batch % kInterfaces].push_back((whole_s - own_s) * 1e6 /
                                                        (2.0 * static_cast<double>(plan.trips)));
  if (++plan.batch < kInterfaces * (1 + plan.turns)) return begin_batch(side);
  print_row(side, plan);
  if (side.bytes() * 2 <= plan.to_bytes)
    return order(side.bytes() * 2, peer(), CpvAccess(on_order));
  void* const message = CmiAlloc(CmiMsgHeaderSizeBytes);
  CmiSetHandler(message, CpvAccess(on_end));
  CmiSyncBroadcastAllAndFree(CmiMsgHeaderSizeBytes, message);
}

void take_end(void* message) {
  CmiFree(message);
  ConverseExit();
}

void read_arguments(char** argv, Plan& plan) {
  CmiGetArgLongDesc(argv, "+from", &plan.from_bytes, "smallest array");
  CmiGetArgLongDesc(argv, "+to", &plan.to_bytes, "largest array; each has twice the one before");
  CmiGetArgLongDesc(argv, "+trips", &plan.most_trips, "most of one batch");
  plan.is_allocated = CmiGetArgFlagDesc(argv, "+alloc", "arrays are of CmiAlloc()") != 0;
  CmiGetArgIntDesc(argv, "+turns", &plan.turns, "batches of each interface");
  if (plan.from_bytes < 8 || plan.from_bytes % 8 != 0 || plan.to_bytes < plan.from_bytes ||
      plan.to_bytes > CmiInt8{1} << 30)
    CmiAbort("zero_copy: +from and +to are multiples of 8, up to 1 GiB");
  if (plan.turns < 1 || plan.most_trips < 1) CmiAbort("zero_copy: +turns and +trips are positive");
  if (CmiNumPes() < 2) CmiAbort("zero_copy: needs two PEs: photonrun -n 2, or +ppn 2");
}

void start(int /*argc*/, char** argv) {
  CpvInitialize(Side*, side);
  CpvInitialize(Plan*, plan);
  CpvInitialize(int, on_ball);
  CpvInitialize(int, on_offer);
  CpvInitialize(int, on_order);
  CpvInitialize(int, on_ready);
  CpvInitialize(int, on_end);
  CpvAccess(side) = new Side;  // until the process ends: ConverseExit() leaves no frames
  CpvAccess(plan) = new Plan;
  CpvAccess(on_ball) = CmiRegisterHandler(take_ball);
  CpvAccess(on_offer) = CmiRegisterHandler(take_offer);
  CpvAccess(on_order) = CmiRegisterHandler(take_order);
  CpvAccess(on_ready) = CmiRegisterHandler(take_ready);
  CpvAccess(on_end) = CmiRegisterHandler(take_end);
  read_arguments(argv, *CpvAccess(plan));
  CpvAccess(side)->clock_s = clock_cost_s();
  if (CmiMyPe() == 0) order(CpvAccess(plan)->from_bytes, peer(), CpvAccess(on_order));
}

}  // namespace

int main(int argc, char** argv) {
  ConverseInit(argc, argv, start, 0, 0);
  return 1;
}
