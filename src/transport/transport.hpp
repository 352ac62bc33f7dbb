// The one contract of every transport: connect my sending half of a line ring to your receiving
// half, and, where the hardware allows, let me reach your memory.
//
// The data path needs no call into the transport: the engine writes records into the ring of a
// Link and reads them from it. In shm that ring is the memory both ranks share; other transports
// carry the lines across. What a transport is asked for:
//
//   connect(rank)   make a Link; its sending half works at once, the receiving half appears when
//                   the peer has answered (Sink::on_link)
//   kick(rank)      I published records or credits in that Link, and nobody polls them hot
//   poll(sink)      now and then: doorbells, side channel, clocks; says which links have news
//   reach/read/write memory of the peer that we can touch by ourselves
//   post(fragment)  a NIC writes to or reads from the peer's memory; Sink::on_done when
//                   it has, Sink::on_fragment at the peer
//   arm/look/sleep  idle without a lost wake-up
//   sleep_on, slept the two halves of sleep(), for who sleeps for several transports at once
//   now_ns, pause   the clock that waits are measured with, and a short wait
//   open_lane       another transport of this rank: links of its own, the same memory
//
// Order: a record is seen whole, and not before those before it; bulk bytes are there no later than
// the record that announces them. Credits are monotonic words; they may arrive late, never too
// high. Fragments among themselves and against records: in any order, but see Sink::on_fragment().
// Threads: one at a time (the engine's lane lock), but sleep(), which runs without it, and wake(),
// which any thread may call at any time. The transports of a rank's lanes are independent.
// Owner: the engine owns its transport; the transport owns the memory that Links point to, from
// connect() until disconnect() or its own end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <photon/context.h>

#include "base/clock.hpp"
#include "base/config.hpp"
#include "base/result.hpp"
#include "sync/hint.hpp"
#include "sync/hold_table.hpp"
#include "sync/intent.hpp"
#include "sync/line_ring.hpp"
#include "sync/overflow.hpp"
#include "sync/region_table.hpp"
#include "sync/sleep_gate.hpp"

namespace photon::boot {
class Boot;
}

namespace photon::transport {

using Rank = ph_rank;
using Policy = sync::HardwarePolicy;
using Line = sync::RingLine<Policy>;
using LineOrder = sync::LineOrder;
using Credits = sync::CreditWords<Policy>;
using Intent = sync::Intent<Policy>;
using Holds = sync::HoldTable<Policy>;
using RegionEntry = sync::RegionEntry<Policy>;
using Overflow = sync::OverflowMemory<Policy>;
using LaneDoorbell = sync::Hint<Policy, std::uint64_t>;
inline constexpr unsigned kDoorbellRankShift = 32;

// What two connected ranks share, seen from one of them. All pointers are the transport's.
//
//   sending only (connect) -- the peer answered --> both halves -- disconnect --> gone
struct Link {
  // Sending half.
  Line* tx_lines = nullptr;
  LineOrder tx_order = LineOrder::in_a_row;
  const Credits* tx_credits = nullptr;  // the peer writes
  std::byte* tx_bulk = nullptr;
  Intent* tx_intent = nullptr;  // null: nothing of the peer can be reached
  Holds* tx_holds = nullptr;    // null: nothing of the peer can be mapped
  Overflow tx_overflow;         // of overflow_bytes; empty: there is none
  bool kick_always = false;     // else kick() is due only while tx_credits->cold is set
  bool post_kicks = false;      // a fragment that post() takes is a kick, too
  bool fenced = false;          // the peer cannot issue heavy barriers: we fence
  bool is_memory = false;       // what is written here another core reads: no network carries it

  // Receiving half; null until the peer answered.
  const Line* rx_lines = nullptr;
  LineOrder rx_order = LineOrder::in_a_row;
  Credits* rx_credits = nullptr;
  const std::byte* rx_bulk = nullptr;
  Overflow rx_overflow;
  const Intent* rx_intent = nullptr;          // what the peer is copying in our memory
  const Holds* rx_holds = nullptr;            // what the peer has mapped of our memory
  const RegionEntry* peer_regions = nullptr;  // null: only the peer can check keys
};

// How an initiator may touch [address, address + size) of a peer.
struct Reach {
  enum class Kind : std::uint8_t {
    none,    // only by records; also until the peer says that it has met us (Credits::met)
    mapped,  // at `local`: plain loads and stores
    call,    // by read() and write(): a system call that needs nobody at the peer
    posted,  // by post(): the peer's NIC checks the key
  };
  Kind kind = Kind::none;
  std::byte* local = nullptr;

  bool is_ours_to_copy() const noexcept { return kind == Kind::mapped || kind == Kind::call; }
};

// Where memory of a peer's arena stands in our address space, as long as `memory` is kept, whatever
// becomes of the link, the peer and the transport.
struct Mapping {
  std::byte* local = nullptr;
  std::shared_ptr<const void> memory;
};

// A fragment of memory for the NICs to move.
struct PostedFragment {
  Rank rank = 0;
  std::uint64_t address = 0;  // at the peer
  std::uint64_t key = 0;
  std::uint64_t size_bytes = 0;           // not 0
  const std::byte* source = nullptr;      // a write, or
  std::byte* destination = nullptr;       // a read
  std::uint64_t token = 0;                // comes back in on_done()
  std::optional<std::uint32_t> imm = {};  // writes: told to the peer; one of wire::ImmCodec
  std::uint64_t local = 0;                // of our memory, where local_granule() is not 0
};

// What a sleep waits for: descriptors that stay readable until poll() has dealt with their news,
// and how long at most.
struct SleepOn {
  static constexpr std::size_t kMostFds = 3;
  std::array<int, kMostFds> fds = {-1, -1, -1};  // -1: none
  std::int64_t limit_us = -1;                    // < 0: none
};

// Connections (tcp) or messages (ofi) that were turned away, by why; sums since the opening.
struct RejectedConnections {
  std::uint64_t silent = 0;        // said not in time who it is, or went
  std::uint64_t garbage = 0;       // does not speak the protocol
  std::uint64_t version = 0;       // speaks another version of it
  std::uint64_t unexpected = 0;    // is no rank that was expected here
  std::uint64_t wrong_key = 0;     // does not bear its rank's key
  std::uint64_t wrong_secret = 0;  // does not know the job's secret
  std::uint64_t crowded = 0;       // had to make room for others
  std::uint64_t no_room = 0;       // found no descriptor left
};

// What poll() reports. Called only from inside poll().
class Sink {
 public:
  virtual void on_link(Rank rank) = 0;      // the Link's receiving half is there (or: a new peer)
  virtual void on_activity(Rank rank) = 0;  // look at its ring: there may be records or credits
  // PH_ERR_DEPARTED: it has said itself, behind all it said before, that it has left in order. Else
  // it may have left all the same, and the bootstrap knows.
  // A native_errno, but ECONNRESET: it was out of reach, or has cut us off (ECONNABORTED), even if
  // it has left the job since. Nothing more will arrive, but the on_done()s of our own fragments.
  // Every on_fragment() of that rank whose on_done() it has had came before. The engine may
  // disconnect() it from here, and any other rank whose on_gone() it has had.
  virtual void on_gone(Rank rank, const base::Error& why) = 0;

  // A fragment of ours is over, and our memory is not touched for it any more. PH_OK: its bytes are
  // where they belong, to be seen by the processor there. PH_ERR_PEER: its peer is gone, and
  // on_gone() follows if a bye does not stand in its ring. Else the peer's NIC has refused it:
  // some of its bytes may be there, its imm is not told and never will be, and what the peer
  // published before it revoked the key can be seen. From here and from on_fragment() the engine
  // may call anything but poll() and sleep().
  virtual void on_done(std::uint64_t /*token*/, ph_status /*status*/) {}
  // All of a fragment with an imm has landed in our memory, to be seen by this processor. Told
  // once, after on_link() of its initiator; and before a poll() shows anything of what the
  // initiator published or posted after that fragment's on_done(): where fragments have an imm, the
  // initiator's lines become visible only in poll(). `from`: the initiator, or PH_ANY_RANK where
  // the NIC does not say.
  virtual void on_fragment(Rank /*from*/, std::uint32_t /*imm*/) {}

 protected:
  ~Sink() = default;
};

class Transport;

// The transports whose descriptors together end the sleep of one.
using Sleepers = std::array<Transport*, 2>;  // null: no more; all: nothing to wait for with poll(2)

class Transport {
 public:
  virtual ~Transport() = default;
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  virtual const char* name() const noexcept = 0;
  // Empty probes between two poll()s; 1 where news arrives only through poll(). It may change with
  // every poll() and post(), and with a kick() of a link that is kicked always.
  virtual unsigned poll_interval() const noexcept = 0;

  // A word that changes whenever a peer kicked us, unless it does so always (Link::kick_always):
  // time for a poll(), whatever the interval. It may miss some, never for long. From bit
  // kDoorbellRankShift on, a hint: the rank that kicked us last. Null: there is none.
  virtual const LaneDoorbell* lane_doorbell() const noexcept { return nullptr; }

  // The Link to a rank (also to ourselves), made at first contact. Idempotent, never blocks.
  virtual base::Result<Link*> connect(Rank rank) = 0;
  // Release the Link; the engine holds no pointer into it any more.
  virtual void disconnect(Rank rank) noexcept = 0;
  // We end this peer though it may live, for `why`: it is told, as well as that can be done, and
  // on_gone() of us comes there. Nothing of it is taken any more.
  virtual void cut_off(Rank /*rank*/, const std::string& /*why*/) noexcept {}

  virtual void kick(Rank rank) noexcept = 0;
  // Memory that it looks at by itself was written: it is kicked if it sleeps. The barrier that the
  // sleep gate wants is in here.
  virtual void wake_rank(Rank rank) noexcept { kick(rank); }
  // Of a link that is kicked always: credits that its peer is not short of. They may wait a little
  // for what is sent to it next.
  virtual void kick_later(Rank rank) noexcept { kick(rank); }
  virtual void poll(Sink& sink) noexcept = 0;
  // Whether everything handed over has left this process (finalize waits for it).
  virtual bool drained() const noexcept = 0;
  // Whether what has left for that rank will be there, whatever becomes of the network now.
  virtual bool arrives(Rank /*rank*/) const noexcept { return true; }

  virtual Reach reach(Rank rank, std::uint64_t address, std::uint64_t size_bytes) noexcept = 0;
  // Whether memory of that rank's arena may be mapped here, and ours there, as far as that is known
  // without meeting it: all ranks of a host say the same of each other.
  virtual bool shares_memory(Rank /*rank*/) const noexcept { return false; }
  // Of a peer that has met us: memory of its arena, mapped for longer than an operation. Nothing:
  // not all of it lies there, or none of it is mapped here.
  virtual std::optional<Mapping> map(Rank /*rank*/, std::uint64_t /*address*/,
                                     std::uint64_t /*size_bytes*/) {
    return std::nullopt;
  }
  // Reach::Kind::call only. All of the bytes or an error. PH_ERR_ARGUMENT: own memory was unmapped
  // or protected; PH_ERR_ACCESS: the peer's. PH_AGAIN: the system will not do it, with no
  // fault in the memory or the peer; some bytes may be there. If that lasts, reach() says so from
  // then on.
  virtual base::Result<> read(Rank rank, std::uint64_t address,
                              std::span<std::byte> destination) noexcept = 0;
  virtual base::Result<> write(Rank rank, std::uint64_t address,
                               std::span<const std::byte> source) noexcept = 0;

  // To a rank that reach() has called posted, maybe gone since: hands a fragment to the NIC. False:
  // its queue is full, and an on_done() or a wake() will say when to try again. Each fragment taken
  // is answered by one on_done(), also when its peer is gone; the end of the transport ends all
  // that are under way.
  virtual bool post(const PostedFragment& /*fragment*/) noexcept { return false; }
  // Whether post() to that rank needs nobody there but its NIC.
  virtual bool posts_alone(Rank /*rank*/) const noexcept { return true; }
  // Our own memory that fragments are read from and written to. 0: our NIC takes any. Else a
  // fragment bears the handle of a registration that contains all of its memory, for writing if it
  // is written to, and that stays until its on_done(); and ranges are registered whose ends are
  // multiples of this power of two, the size of a page as a rule.
  virtual std::uint64_t local_granule() const noexcept { return 0; }
  // Ranges may overlap; each time a handle of its own, not 0. The NIC sees the pages that are
  // there now, whatever is mapped there later. PH_ERR_MEMORY: a limit, and there may be room when
  // others were given back; else this memory cannot be registered. The end of the transport ends
  // them all.
  virtual base::Result<std::uint64_t> register_local(std::span<const std::byte> /*memory*/,
                                                     bool /*is_written*/) noexcept {
    return base::Error{PH_ERR_STATE, 0, "this transport registers no memory", PH_ANY_RANK};
  }
  // No fragment that bears the handle is under way.
  virtual void unregister_local(std::uint64_t /*handle*/) noexcept {}

  // Whether targets are told of fragments with an imm between that rank and us; the same always and
  // at both.
  virtual bool has_imm(Rank /*rank*/) const noexcept { return false; }
  // How many bits an imm has; 32 at most.
  virtual unsigned imm_bits() const noexcept { return 32; }
  // Where fragments have an imm: how many more could be now without waiting for the peer to come.
  // More are taken all the same.
  virtual std::uint64_t imm_room(Rank /*rank*/) const noexcept { return UINT64_MAX; }
  // Keys of ours were revoked. From here on no NIC touches memory under them: what is under way
  // has ended, what comes later is refused with PH_ERR_KEY.
  virtual void quiesce() noexcept {}
  // Whether quiesce() does anything: somebody may act under a key that was looked at before.
  virtual bool quiesces() const noexcept { return false; }
  // We leave in order: where this transport itself tells peers that it ends, it tells them that
  // too. Else it ends as by a context that is dropped.
  virtual void leave() noexcept {}
  // We leave, and a bye stands in every ring: from here on no peer begins to touch our memory by
  // itself over these links; what has begun shows in rx_intent. NICs go on until our end.
  virtual void hide() noexcept {}

  // The transport of lane `number` of this rank, which talks with those of the same number, by the
  // side channel of that lane. Arena and regions are the same memory as ours, and live as long as
  // any of them. PH_ERR_MEMORY: max_lanes are open; PH_ERR_STATE: there are no lanes here.
  virtual base::Result<std::unique_ptr<Transport>> open_lane(std::uint32_t number,
                                                             boot::Boot& boot);

  // Memory that peers can map; the engine hands it out (ph_alloc). Empty: there is none, and the
  // engine uses ordinary memory.
  virtual std::span<std::byte> arena() noexcept = 0;
  // Whether discard() does anything: memory of links can be given back to the system.
  virtual bool discards() const noexcept { return false; }
  // The bulk ring or the overflow of our sending half, all of it read: what stands there is not
  // needed any more. It may be written again at once.
  virtual void discard(std::span<std::byte> /*memory*/) noexcept {}
  // Our registrations, max_regions entries, where the peers see them.
  virtual std::span<RegionEntry> regions() noexcept = 0;

  // Sleeping: arm(), look at every ring once more, then sleep() or, having found something,
  // disarm(). sleep() returns after a wake-up, at the deadline, or for no reason; it is followed
  // by disarm(). timeout_us < 0: no limit.
  virtual void arm() noexcept = 0;
  virtual void sleep(std::int64_t timeout_us) noexcept = 0;
  virtual void disarm() noexcept = 0;
  // What sleep() waits for, and what it does afterwards: bit i of `ready`, fds[i] was readable.
  // From after arm() on, by the thread that sleeps. A number of a descriptor is that of the
  // same descriptor as long as the transport lives. The default: nobody can wait for it.
  virtual SleepOn sleep_on() noexcept { return {.fds = {-1, -1, -1}, .limit_us = 0}; }
  virtual void slept(unsigned /*ready*/) noexcept {}
  // Whom to ask both of them instead of us.
  virtual Sleepers sleepers() noexcept { return {}; }
  // End this rank's own sleep() from another thread.
  virtual void wake() noexcept = 0;

  // Monotonic. A transport that simulates time has a clock of its own, and nothing in the engine
  // looks at another.
  virtual std::int64_t now_ns() noexcept { return base::now_ns(); }
  // In a loop that waits for a peer to act, whose turn number `spins` is.
  virtual void pause(unsigned spins) noexcept { Policy::pause(spins); }

  // Of a network, whoever else may come by; others have none.
  virtual RejectedConnections rejected() const noexcept { return {}; }

  // ph_path_to(): same_process, cma, arena_mapped, reason.
  virtual void describe(Rank rank, ph_path& path) = 0;
};

inline base::Result<std::unique_ptr<Transport>> Transport::open_lane(std::uint32_t /*number*/,
                                                                     boot::Boot& /*boot*/) {
  return base::Error{PH_ERR_STATE, 0, "this transport has no lanes", PH_ANY_RANK};
}

}  // namespace photon::transport
