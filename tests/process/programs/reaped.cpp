// One rank of a job in which one is killed at a moment that nobody chose: reaped SEED
//
// All exchange puts of every size, gets, atomics and notifications with all; a timer of the kernel
// kills the victim in the middle of whatever it does. The others must hear of it within a second by
// an error that names it, get nothing wrong, from it or from each other, go on for a while, and
// finalize without an error.
//
//   slot of a receiver: free -> put -> local id, and the receiver's notification -> free
//
// Exit status 0: so it was.
#include <photon/photon.h>

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kSlots = 4;
constexpr std::size_t kSlotBytes = 80'000;
constexpr std::size_t kFixedBytes = 20'000;  // for gets: what each rank shows
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kAfterwardsNs = 150'000'000;

enum Kind : std::uint64_t { kPut = 1, kAck, kGet, kAtomic, kDone };
constexpr std::uint64_t id_of(Kind kind, std::uint64_t slot, std::uint64_t number) {
  return std::uint64_t{kind} << 56 | slot << 48 | number;
}
constexpr std::uint64_t kind_of(std::uint64_t id) { return id >> 56; }
constexpr std::uint64_t slot_of(std::uint64_t id) { return id >> 48 & 0xff; }
constexpr std::uint64_t number_of(std::uint64_t id) { return id & 0xffff'ffff'ffff; }

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec;
}

struct Random {
  std::uint64_t state;
  std::uint64_t next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 20;
  }
  std::uint64_t below(std::uint64_t count) { return next() % count; }
};

std::byte pattern(std::uint64_t seed, std::size_t i) {
  return static_cast<std::byte>((seed * 167 + i * 13 + (i >> 8)) & 0xff);
}
bool holds(const std::byte* bytes, std::size_t size, std::uint64_t seed) {
  for (std::size_t i = 0; i < size; ++i)
    if (bytes[i] != pattern(seed, i)) return false;
  return true;
}
std::uint64_t seed_of(ph_rank from, ph_rank to, std::uint64_t number) {
  return number * 64 + from * 8 + to;
}
std::size_t size_of(std::uint64_t seed) {
  constexpr std::size_t kSizes[] = {0, 8, 100, 193, 1000, 4096, 5000, 20'000, 40'000, kSlotBytes};
  return kSizes[seed * 2654435761u / 64 % std::size(kSizes)];
}

struct Peer {
  ph_region region{};
  bool is_dead = false;
  bool is_done = false;        // it posts no more
  std::uint64_t sent = 0;      // puts
  std::uint64_t received = 0;  // of its puts
  int waits[kSlots] = {};      // what each of our slots there waits for
  bool is_getting = false;
  bool is_adding = false;
  std::uint64_t added = 0;
  std::uint64_t before = 0;
  std::vector<std::byte> sources[kSlots];
  std::vector<std::byte> landing = std::vector<std::byte>(kFixedBytes);
  bool is_quiet() const {
    for (const int waiting : waits)
      if (waiting != 0) return false;
    return !is_getting && !is_adding;
  }
};

class Rank {
 public:
  Rank(ph_context* context, std::uint64_t seed)
      : context_(context),
        me_(ph_rank_of(context)),
        size_(ph_size_of(context)),
        random_{seed * 8 + me_ + 1},
        peers_(size_) {
    Random all{seed};
    victim_ = static_cast<ph_rank>(all.below(size_));
    delay_ns_ = 1'000'000 + static_cast<std::int64_t>(all.below(60'000'000));
  }

  int run() {
    if (!show() || !trade() || !settle()) return 1;
    const ph_status status = ph_finalize(context_);
    return status == PH_OK || fail("finalize: " + std::string(ph_status_text(status))) ? 0 : 1;
  }

 private:
  bool fail(const std::string& what) const {
    ph_error error{};
    ph_last_error(context_, &error);
    std::fprintf(stderr, "rank %u of %u, victim %u: %s; last error: %s\n", me_, size_, victim_,
                 what.c_str(), error.text);
    return false;
  }
  std::size_t fixed_at() const { return size_ * kSlots * kSlotBytes; }
  std::size_t word_at(ph_rank rank) const { return fixed_at() + kFixedBytes + 64 * rank; }
  ph_target place(ph_rank rank, std::size_t offset) { return ph_at(&peers_[rank].region, offset); }

  bool show() {
    memory_.resize((word_at(size_) + 7) / 8);
    auto* bytes = reinterpret_cast<std::byte*>(memory_.data());
    for (std::size_t i = 0; i < kFixedBytes; ++i) bytes[fixed_at() + i] = pattern(me_, i);
    struct Shown {
      ph_region region;
      std::int64_t dies_ns;
    } mine{}, all[64];
    if (ph_register(context_, bytes, memory_.size() * 8, PH_ACCESS_ALL, &mine.region) != PH_OK)
      return fail("register");
    mine.dies_ns = now_ns() + delay_ns_;
    if (ph_allgather(context_, &mine, all, sizeof mine) != PH_OK) return fail("allgather");
    for (ph_rank rank = 0; rank < size_; ++rank) peers_[rank].region = all[rank].region;
    dies_ns_ = all[victim_].dies_ns;
    return me_ != victim_ || set_timer();
  }

  // The kernel does it, wherever we are by then.
  bool set_timer() {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGKILL;
    timer_t timer{};
    itimerspec when{};
    when.it_value.tv_sec = dies_ns_ / kSecondNs;
    when.it_value.tv_nsec = dies_ns_ % kSecondNs;
    return (::timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 &&
            ::timer_settime(timer, TIMER_ABSTIME, &when, nullptr) == 0) ||
           fail("timer");
  }

  bool trade() {
    while (!knows_ || now_ns() < heard_ns_ + kAfterwardsNs) {
      const auto rank = static_cast<ph_rank>(random_.below(size_));
      if (rank != me_ && !post(rank)) return false;
      if (!take()) return false;
      if (!knows_ && now_ns() > dies_ns_ + kSecondNs) return fail("nothing heard in a second");
      if (random_.below(512) == 0 && !nap()) return false;
    }
    return true;
  }
  bool nap() {
    const ph_status status = ph_wait(context_, {PH_ANY_RANK, PH_EITHER, nullptr}, 300);
    // Nobody is left who could send anything.
    if (status == PH_ERR_PEER && size_ == 2) return mourn();
    return status == PH_OK || status == PH_TIMEOUT || fail("wait");
  }

  // PH_ERR_PEER of the victim is what we are here for.
  bool posted(ph_rank rank, ph_status status, bool& is_under_way) {
    is_under_way = status == PH_OK;
    if (status == PH_OK || status == PH_AGAIN) return true;
    if (status == PH_ERR_PEER && rank == victim_) return mourn();
    return fail("an operation to rank " + std::to_string(rank));
  }
  bool mourn() {
    if (!knows_) {
      knows_ = true;
      heard_ns_ = now_ns();
      if (heard_ns_ < dies_ns_) return fail("mourned too early");
      if (heard_ns_ > dies_ns_ + kSecondNs) return fail("heard too late");
    }
    peers_[victim_].is_dead = true;
    return true;
  }

  bool post(ph_rank rank) {
    Peer& peer = peers_[rank];
    if (peer.is_dead) return true;
    bool begun = false;
    switch (random_.below(8)) {
      case 0:
        if (peer.is_getting) return true;
        if (!posted(rank,
                    ph_get_u64(context_, rank, {peer.landing.data(), kFixedBytes},
                               place(rank, fixed_at()), {id_of(kGet, 0, 0), id_of(kGet, 0, 0)}),
                    begun))
          return false;
        peer.is_getting = peer.is_getting || begun;
        return true;
      case 1: return add(rank);
      default: return put(rank);
    }
  }
  bool add(ph_rank rank) {
    Peer& peer = peers_[rank];
    if (peer.is_adding) return true;
    ph_atomic_args args{};
    args.size = sizeof args;
    args.target = place(rank, word_at(me_));
    args.op = PH_OP_ADD;
    args.type = PH_UINT64;
    args.operand.uint64 = 1;
    args.fetched = &peer.before;
    const std::uint64_t id = id_of(kAtomic, 0, 0);
    args.local = {&id, sizeof id};
    args.flags = PH_NO_RCE;
    return posted(rank, ph_atomic(context_, rank, &args), peer.is_adding);
  }
  bool put(ph_rank rank) {
    Peer& peer = peers_[rank];
    const std::size_t slot = peer.sent % kSlots;
    if (peer.waits[slot] != 0) return true;
    const std::uint64_t seed = seed_of(me_, rank, peer.sent);
    auto& source = peer.sources[slot];
    source.resize(size_of(seed));
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = pattern(seed, i);
    const std::uint64_t id = id_of(kPut, slot, peer.sent);
    bool begun = false;
    if (!posted(rank,
                ph_put_u64(context_, rank, {source.data(), source.size()},
                           place(rank, (me_ * kSlots + slot) * kSlotBytes), {id, id}),
                begun))
      return false;
    if (begun) {
      peer.waits[slot] = 2;  // its local id, and the receiver's word
      ++peer.sent;
    }
    return true;
  }

  bool take() {
    ph_completion found[16];
    std::size_t count = 0;
    if (ph_probe(context_, {PH_ANY_RANK, PH_EITHER, nullptr}, found, 16, &count) != PH_OK)
      return fail("probe");
    for (std::size_t i = 0; i < count; ++i)
      if (!(found[i].kind == PH_LOCAL ? ended(found[i]) : arrived(found[i]))) return false;
    return answer();
  }
  bool ended(const ph_completion& one) {
    Peer& peer = peers_[one.peer];
    if (one.status != PH_OK && !(one.status == PH_ERR_PEER && one.peer == victim_))
      return fail("an operation to rank " + std::to_string(one.peer) + " ended with " +
                  ph_status_text(one.status));
    const bool good = one.status == PH_OK;
    if (!good && !mourn()) return false;
    switch (kind_of(one.id)) {
      case kPut: --peer.waits[slot_of(one.id)]; return true;
      case kGet:
        peer.is_getting = false;
        return !good || holds(peer.landing.data(), kFixedBytes, one.peer) || fail("a get is wrong");
      case kAtomic:
        peer.is_adding = false;
        return !good || peer.before == peer.added++ || fail("an atomic is wrong");
      default: return fail("a local id that was never given");
    }
  }
  bool arrived(const ph_completion& one) {
    Peer& peer = peers_[one.peer];
    const std::size_t slot = slot_of(one.id);
    switch (kind_of(one.id)) {
      case kPut: {
        const std::uint64_t seed = seed_of(one.peer, me_, number_of(one.id));
        const auto* bytes = reinterpret_cast<const std::byte*>(memory_.data()) +
                            (one.peer * kSlots + slot) * kSlotBytes;
        if (number_of(one.id) != peer.received++) return fail("a put is lost or out of order");
        if (!holds(bytes, size_of(seed), seed)) return fail("a put's bytes are wrong");
        owed_.push_back({one.peer, id_of(kAck, slot, number_of(one.id))});
        return true;
      }
      case kAck: --peer.waits[slot]; return true;
      case kDone: peer.is_done = true; return true;
      case kGet: return true;
      default: return fail("a remote id that nobody sent");
    }
  }
  bool answer() {
    while (!owed_.empty()) {
      const Owed one = owed_.back();
      bool begun = peers_[one.rank].is_dead;
      if (!begun && !posted(one.rank, ph_notify(context_, one.rank, one.id), begun)) return false;
      if (!begun && !peers_[one.rank].is_dead) return true;  // no room yet
      owed_.pop_back();
    }
    return true;
  }

  // Nothing of the living is under way any more, and they know.
  bool settle() {
    const std::int64_t limit_ns = now_ns() + 20 * kSecondNs;
    std::vector<bool> told(size_);
    for (;;) {
      bool over = owed_.empty();
      for (ph_rank rank = 0; rank < size_; ++rank) {
        Peer& peer = peers_[rank];
        if (rank == me_ || peer.is_dead) continue;
        if (!told[rank] && peer.is_quiet() && owed_.empty()) {
          bool begun = false;
          if (!posted(rank, ph_notify(context_, rank, id_of(kDone, 0, 0)), begun)) return false;
          told[rank] = begun;
        }
        over = over && told[rank] && peer.is_done;
      }
      if (over) return true;
      if (!take()) return false;
      if (now_ns() > limit_ns) return fail("the living do not come to an end");
    }
  }

  struct Owed {
    ph_rank rank;
    std::uint64_t id;
  };

  ph_context* context_;
  const ph_rank me_;
  const std::uint32_t size_;
  Random random_;
  std::vector<Peer> peers_;
  ph_rank victim_ = 0;
  std::int64_t delay_ns_ = 0;
  std::int64_t dies_ns_ = 0;
  std::int64_t heard_ns_ = 0;
  bool knows_ = false;
  std::vector<Owed> owed_;
  std::vector<std::uint64_t> memory_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: reaped SEED\n");
    return 2;
  }
  ph_context* context = nullptr;
  ph_error error{};
  if (ph_context_create(nullptr, &context, &error) != PH_OK) {
    std::fprintf(stderr, "create: %s\n", error.text);
    return 3;
  }
  const int result = Rank(context, std::strtoull(argv[1], nullptr, 10)).run();
  ph_context_destroy(context);
  return result;
}
