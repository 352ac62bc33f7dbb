// A transport that a test controls: both halves of every link lie in one FakeNet, where the test
// may look at them and write to them; nothing happens by itself.
//
// Where reach is `posted`, the test plays the NICs:
//
//   posted by the engine -- land(), refuse() --> over, told in the initiator's next poll()
//                        -- cancel() --> dropped, what was to be told of it too
//
// Invariant: connect() makes both directions at once; the peer hears of a new link, of kicks, of
// fragments and of a lost rank in its next poll(). Owner: the test; the net outlives its
// transports. Threads: one, but for sleep() and wake().
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/config.hpp"
#include "service/service.hpp"
#include "transport/transport.hpp"

namespace photon::test {

using transport::Rank;

// Small rings, so that a test sees every limit.
inline base::Config small_config() {
  base::Config config;
  config.ring_lines = 64;
  config.ledger_slots = 4;
  config.requests = 64;
  config.bulk_bytes = 8 << 10;
  config.bulk_chunk = 2 << 10;
  config.piece_bytes = 4 << 10;
  config.posted_piece_bytes = 4 << 10;
  config.overflow_bytes = 4 << 10;
  config.overflow_total_bytes = 0;
  config.max_regions = 16;
  config.arena_bytes = 1 << 20;
  config.unregister_timeout_ms = 1;
  config.spin_us = 0;
  config.log = base::LogLevel::error;
  return config;
}

struct FakeOptions {
  bool keys_visible = true;  // peers see each other's region tables
  transport::Reach::Kind reach = transport::Reach::Kind::none;
  unsigned poll_interval = 1;
  bool has_imm = false;
  Rank imms_from = PH_ANY_RANK;     // what NICs say of who wrote
  bool has_doorbell = false;        // that names who kicked last
  bool overflows = false;           // ids beyond the ledger queue in shared memory
  std::size_t nic_queue = 64;       // fragments that a NIC takes before one is told to be over
  std::uint64_t local_granule = 0;  // of memory that NICs have to be shown; 0: they take any
  base::Config config = small_config();
  std::span<const service::Kind> services = {};  // none: those that the library has
};

class FakeNet {
 public:
  // What goes from one rank to another, in memory both can touch.
  struct Way {
    explicit Way(const base::Config& config)
        : lines(config.ring_lines),
          bulk(config.bulk_bytes),
          words(config.overflow_bytes / 8),
          credits{},
          intent{} {}
    transport::Overflow overflow() { return {&published, &taken, words.data()}; }
    std::vector<transport::Line> lines;
    std::vector<std::byte> bulk;
    std::vector<transport::Policy::Cell<std::uint64_t>> words;
    sync::OverflowWord<transport::Policy> published;
    sync::OverflowWord<transport::Policy> taken;
    transport::Credits credits;
    transport::Intent intent;
  };
  // A fragment of `rank` is over.
  struct Done {
    Rank rank;
    std::uint64_t token;
    ph_status status;
  };
  // Own memory that a rank's NIC was shown.
  struct Local {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool is_written = false;
  };
  struct Seat {
    std::vector<transport::RegionEntry> regions;
    std::map<Rank, transport::Link> links;
    std::set<Rank> new_links;
    std::set<Rank> doorbells;
    transport::LaneDoorbell lane_doorbell;
    std::uint32_t alarms_count = 0;
    std::map<Rank, base::Error> gone;
    std::set<Rank> let_go;                // disconnected
    std::map<Rank, std::string> cut_off;  // by whom this rank was, and why
    unsigned kicks_count = 0;             // that this rank gave
    unsigned calls_count = 0;             // read() and write() of this rank
    unsigned writes_left = ~0U;  // before the kernel refuses them, and reach() says nothing of it
    unsigned short_reads = 0;    // so many find the kernel short of memory, and the path stays
    unsigned calls_left = ~0U;   // the last is refused, and reach() says so from then on

    std::deque<transport::PostedFragment> posted;  // to this rank's NIC, and not over
    unsigned posted_count = 0;
    std::vector<Done> done;                // to be told
    std::vector<std::uint32_t> names;      // of fragments that have landed here, to be told
    std::vector<std::uint64_t> live_keys;  // of this rank, when quiesce() was called last
    unsigned quiesces_count = 0;

    std::map<std::uint64_t, Local> locals;  // by handle
    std::uint64_t last_local = 0;
    std::size_t locals_max = 1000;
    std::uint64_t locals_bytes_max = UINT64_MAX;  // of one
    ph_status locals_error = PH_OK;               // else: what it says to all
    unsigned locals_asked = 0;
    std::function<bool()> at_sleep = [] { return false; };  // true: do not sleep
    std::int64_t own_time_ns = 0;                           // that the test moves; 0: the clock's
    std::int64_t write_ns = 0;                              // so much of it passes in each write()
  };

  FakeNet(std::uint32_t ranks_count, FakeOptions chosen)
      : options(std::move(chosen)), seats(ranks_count) {
    for (Seat& seat : seats)
      seat.regions = std::vector<transport::RegionEntry>(options.config.max_regions);
  }

  Way& way(Rank from, Rank to) {
    auto& made = ways_[{from, to}];
    if (made == nullptr) made = std::make_unique<Way>(options.config);
    return *made;
  }

  transport::Link& link(Rank me, Rank rank) {
    transport::Link& link = seats[me].links[rank];
    if (link.tx_lines != nullptr) return link;
    Way& out = way(me, rank);
    Way& in = way(rank, me);
    link.tx_lines = out.lines.data();
    link.tx_credits = &out.credits;
    link.tx_bulk = out.bulk.data();
    if (options.overflows) link.tx_overflow = out.overflow();
    link.tx_intent = &out.intent;
    link.rx_lines = in.lines.data();
    link.rx_credits = &in.credits;
    link.rx_bulk = in.bulk.data();
    if (options.overflows) link.rx_overflow = in.overflow();
    link.rx_intent = &in.intent;
    if (options.keys_visible) link.peer_regions = seats[rank].regions.data();
    if (me != rank) seats[rank].new_links.insert(me);
    return link;
  }

  // A fragment that `me` has posted is over: all of it has landed, or nothing. If it has a name,
  // the target must poll before `me` does: here, records are seen without a poll, and those that
  // follow on_done() must not come before on_fragment().
  void land(Rank me, std::size_t index = 0) {
    const transport::PostedFragment fragment = take_posted(me, index);
    auto* there = reinterpret_cast<std::byte*>(fragment.address);
    if (fragment.source != nullptr)
      std::memcpy(there, fragment.source, fragment.size_bytes);
    else
      std::memcpy(fragment.destination, there, fragment.size_bytes);
    if (fragment.imm) seats[fragment.rank].names.push_back(*fragment.imm);
    seats[me].done.push_back({fragment.rank, fragment.token, PH_OK});
  }
  void refuse(Rank me, ph_status why, std::size_t index = 0) {
    const transport::PostedFragment fragment = take_posted(me, index);
    seats[me].done.push_back({fragment.rank, fragment.token, why});
  }

  FakeOptions options;
  std::vector<Seat> seats;

 private:
  transport::PostedFragment take_posted(Rank me, std::size_t index) {
    auto& posted = seats[me].posted;
    const transport::PostedFragment fragment = posted.at(index);
    posted.erase(posted.begin() + static_cast<std::ptrdiff_t>(index));
    return fragment;
  }

  std::map<std::pair<Rank, Rank>, std::unique_ptr<Way>> ways_;
};

class FakeTransport final : public transport::Transport {
 public:
  FakeTransport(FakeNet& net, Rank me) : net_(net), me_(me) {}

  const char* name() const noexcept override { return "fake"; }
  unsigned poll_interval() const noexcept override { return net_.options.poll_interval; }
  base::Result<transport::Link*> connect(Rank rank) override { return &net_.link(me_, rank); }
  void disconnect(Rank rank) noexcept override { seat().let_go.insert(rank); }

  void cut_off(Rank rank, const std::string& why) noexcept override {
    try {
      net_.seats[rank].cut_off[me_] = why;
    } catch (const std::bad_alloc&) {  // as well as that can be done
    }
  }

  void kick(Rank rank) noexcept override {
    ++seat().kicks_count;
    FakeNet::Seat& theirs = net_.seats[rank];
    theirs.doorbells.insert(me_);
    theirs.lane_doorbell.set(std::uint64_t{me_} << transport::kDoorbellRankShift |
                             ++theirs.alarms_count);
  }
  const transport::LaneDoorbell* lane_doorbell() const noexcept override {
    return net_.options.has_doorbell ? &net_.seats[me_].lane_doorbell : nullptr;
  }
  void poll(transport::Sink& sink) noexcept override {
    for (const Rank rank : std::exchange(seat().new_links, {})) sink.on_link(rank);
    for (const std::uint32_t name : std::exchange(seat().names, {}))
      sink.on_fragment(net_.options.imms_from, name);
    for (const FakeNet::Done& one : std::exchange(seat().done, {}))
      sink.on_done(one.token, one.status);
    for (const Rank rank : std::exchange(seat().doorbells, {})) sink.on_activity(rank);
    for (const auto& [rank, why] : std::exchange(seat().gone, {})) sink.on_gone(rank, why);
  }
  bool drained() const noexcept override { return true; }

  transport::Reach reach(Rank, std::uint64_t address, std::uint64_t) noexcept override {
    const bool is_refused =
        seat().calls_left == 0 && net_.options.reach == transport::Reach::Kind::call;
    return {is_refused ? transport::Reach::Kind::none : net_.options.reach,
            reinterpret_cast<std::byte*>(address)};
  }
  base::Result<> read(Rank, std::uint64_t address,
                      std::span<std::byte> destination) noexcept override {
    if (seat().short_reads != 0) {
      --seat().short_reads;
      return refused(PH_AGAIN);
    }
    if (!may_call()) return refused(PH_AGAIN);
    std::memcpy(destination.data(), reinterpret_cast<void*>(address), destination.size());
    return {};
  }
  base::Result<> write(Rank, std::uint64_t address,
                       std::span<const std::byte> source) noexcept override {
    if (!may_call()) return refused(PH_AGAIN);
    if (seat().own_time_ns != 0) seat().own_time_ns += seat().write_ns;
    if (seat().writes_left == 0) return refused(PH_ERR_SYSTEM);
    --seat().writes_left;
    std::memcpy(reinterpret_cast<void*>(address), source.data(), source.size());
    return {};
  }

  std::uint64_t local_granule() const noexcept override { return net_.options.local_granule; }
  base::Result<std::uint64_t> register_local(std::span<const std::byte> memory,
                                             bool is_written) noexcept override {
    ++seat().locals_asked;
    ph_status status = seat().locals_error;
    if (seat().locals.size() >= seat().locals_max || memory.size() > seat().locals_bytes_max)
      status = PH_ERR_MEMORY;
    if (status != PH_OK) return base::Error{status, 0, "the NIC registers no more", me_};
    const auto begin = reinterpret_cast<std::uint64_t>(memory.data());
    seat().locals[++seat().last_local] = {begin, begin + memory.size(), is_written};
    return seat().last_local;
  }
  void unregister_local(std::uint64_t handle) noexcept override {
    for (const auto& fragment : seat().posted)
      EXPECT_NE(fragment.local, handle) << "a fragment under way uses it";
    EXPECT_EQ(seat().locals.erase(handle), 1u);
  }

  bool post(const transport::PostedFragment& fragment) noexcept override {
    if (seat().posted.size() + seat().done.size() >= net_.options.nic_queue) return false;
    if (net_.options.local_granule != 0) expect_shown(fragment);
    seat().posted.push_back(fragment);
    ++seat().posted_count;
    return true;
  }
  bool has_imm(Rank /*rank*/) const noexcept override { return net_.options.has_imm; }
  void quiesce() noexcept override {
    ++seat().quiesces_count;
    seat().live_keys.clear();
    for (const auto& entry : seat().regions)
      if (entry.key() != 0) seat().live_keys.push_back(entry.key());
  }

  std::span<std::byte> arena() noexcept override { return {}; }
  std::span<transport::RegionEntry> regions() noexcept override { return seat().regions; }

  void arm() noexcept override {}
  std::int64_t now_ns() noexcept override {
    return seat().own_time_ns != 0 ? seat().own_time_ns : base::now_ns();
  }
  void sleep(std::int64_t timeout_us) noexcept override {
    if (seat().at_sleep()) return;
    std::unique_lock lock(mutex_);
    asleep_ = true;
    changed_.notify_all();
    const auto limit = std::chrono::microseconds(timeout_us < 0 ? 20'000'000 : timeout_us);
    changed_.wait_for(lock, limit, [this] { return woken_; });
    asleep_ = woken_ = false;
  }
  void disarm() noexcept override {}
  void wake() noexcept override {
    const std::scoped_lock lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }
  void describe(Rank, ph_path& path) override { path.same_process = 1; }

  // For the test: until a thread is inside sleep(), and whether it was woken since.
  void await_sleeper() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return asleep_; });
  }
  bool was_woken() {
    const std::scoped_lock lock(mutex_);
    return woken_;
  }
  bool sleeper_is_left_alone() {
    const std::scoped_lock lock(mutex_);
    return asleep_ && !woken_;
  }

 private:
  bool may_call() noexcept {
    ++seat().calls_count;
    return seat().calls_left != 0 && --seat().calls_left != 0;
  }
  static base::Error refused(ph_status status) {
    return {.status = status, .native_errno = EPERM, .what = "refused"};
  }

  // The NIC knows the fragment's own memory.
  void expect_shown(const transport::PostedFragment& fragment) {
    const auto found = seat().locals.find(fragment.local);
    ASSERT_NE(found, seat().locals.end());
    const bool is_read = fragment.source != nullptr;
    const auto begin =
        reinterpret_cast<std::uint64_t>(is_read ? fragment.source : fragment.destination);
    EXPECT_GE(begin, found->second.begin);
    EXPECT_LE(begin + fragment.size_bytes, found->second.end);
    EXPECT_TRUE(is_read || found->second.is_written);
  }

  FakeNet::Seat& seat() noexcept { return net_.seats[me_]; }

  FakeNet& net_;
  const Rank me_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool asleep_ = false;
  bool woken_ = false;
};

}  // namespace photon::test
