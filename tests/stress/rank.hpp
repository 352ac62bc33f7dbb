// One rank of the stress test, with several threads: posts messages that follow from the seed,
// verifies every byte and the order of what it is sent, reads back, and leaves in order.
//
//   message: slot free -> posted -> local id and acknowledgement of the receiver -> slot free
//   echo:    free -> put (delivered) -> local id -> get of the same bytes -> verified -> free
//
// Owner: whoever runs the rank. Threads: run() starts its own.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "traffic.hpp"

namespace photon::stress {

struct Plan {
  std::uint64_t seed = 1;
  std::chrono::milliseconds duration{1000};
  unsigned threads_count = 3;
  std::uint32_t max_id_bytes = 8;
};

class Rank {
 public:
  Rank(ph_context* context, const Plan& plan)
      : context_(context),
        plan_(plan),
        me_(ph_rank_of(context)),
        layout_(ph_size_of(context)),
        peers_(ph_size_of(context)) {}

  // Empty if all went well, else the first thing that was wrong.
  std::string run() {
    if (!expose()) return failure_;
    end_ = std::chrono::steady_clock::now() + plan_.duration;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < plan_.threads_count; ++i)
      threads.emplace_back([this, i] { work(Random(plan_.seed ^ mix(me_ * 64 + i))); });
    for (std::thread& thread : threads) thread.join();
    return failure_;
  }
  std::uint64_t messages_count() const { return verified_count_; }
  std::uint64_t echoes_count() const { return echoes_count_; }

 private:
  enum class Echo { free, putting, landed, reading };

  struct Peer {
    std::mutex mutex;  // posting, and what is posted
    std::uint64_t posted = 0;
    unsigned pending[kSlots] = {};  // what each slot still waits for
    std::uint64_t acked = 0;
    std::vector<std::byte> sources[kSlots];
    Echo echo = Echo::free;
    std::uint64_t echo_seed = 0;
    std::vector<std::byte> echo_source, echo_landing;
    unsigned gets = 0;  // of the constant part, under way
    std::vector<std::byte> get_landing;
    std::size_t get_offset = 0;
    ph_region region{};

    // Under remote_mutex_: what it sends us.
    std::uint64_t received = 0;
    std::uint64_t told = 0;  // of received, to it
    bool finished = false;
    bool told_finished = false;  // set under both
  };

  static constexpr std::uint64_t kEchoPut = 1ull << 62;
  static constexpr std::uint64_t kEchoGet = 1ull << 61;
  static constexpr std::uint64_t kGet = 1ull << 60;

  bool fail(const std::string& what) {
    const std::scoped_lock lock(failure_mutex_);
    if (failure_.empty()) failure_ = "rank " + std::to_string(me_) + ": " + what;
    failed_ = true;
    return false;
  }
  bool check(ph_status status, const char* call) {
    if (status == PH_OK || status == PH_AGAIN || status == PH_TIMEOUT) return true;
    ph_error error{};
    ph_last_error(context_, &error);
    return fail(std::string(call) + ": " + ph_status_text(status) + ": " + error.text);
  }

  bool expose() {
    ph_region mine{};
    if (me_ % 2 == 0) {
      if (!check(ph_alloc(context_, layout_.total_bytes(), &mine), "alloc")) return false;
    } else {
      ordinary_.resize(layout_.total_bytes());
      if (!check(ph_register(context_, ordinary_.data(), ordinary_.size(), PH_ACCESS_ALL, &mine),
                 "register"))
        return false;
    }
    memory_ = {reinterpret_cast<std::byte*>(mine.address), layout_.total_bytes()};
    fill(memory_.first(kConstantBytes), constant_seed(plan_.seed, me_));
    std::vector<ph_region> all(peers_.size());
    if (!check(ph_allgather(context_, &mine, all.data(), sizeof mine), "allgather")) return false;
    for (ph_rank rank = 0; rank < peers_.size(); ++rank) peers_[rank].region = all[rank];
    return true;
  }

  bool posting() const { return !failed_ && std::chrono::steady_clock::now() < end_; }

  void work(Random random) {
    while (!failed_) {
      const auto to = static_cast<ph_rank>(random.below(peers_.size()));
      bool moved = false;
      if (posting()) moved = post_something(to, random);
      if (!take_local() || !take_remote()) return;
      if (posting() || failed_) {
        if (!moved && random.below(4) == 0)
          check(ph_wait(context_, {PH_ANY_RANK, PH_EITHER, nullptr}, 200), "wait");
        continue;
      }
      if (all_over()) return;
      check(ph_wait(context_, {PH_ANY_RANK, PH_EITHER, nullptr}, 200), "wait");
    }
  }

  bool post_something(ph_rank to, Random& random) {
    Peer& peer = peers_[to];
    const std::scoped_lock lock(peer.mutex);
    // We may have waited for the lock since it was time to post: nobody waits for what follows the
    // last word.
    if (peer.told_finished) return false;
    switch (random.below(12)) {
      case 0: return post_echo(to, peer, random);
      case 1: return post_get(to, peer, random);
      case 2: return check(ph_fence(context_, to), "fence");
      case 3:
        if (random.below(16) != 0) return false;
        return check(ph_flush(context_, random.below(2) != 0 ? to : PH_ANY_RANK,
                              static_cast<std::int64_t>(random.below(500))),
                     "flush");
      default: return post_message(to, peer, random);
    }
  }

  bool post_message(ph_rank to, Peer& peer, Random& random) {
    const Message message =
        message_at(plan_.seed, {me_, to}, peer.posted, layout_, plan_.max_id_bytes);
    unsigned& pending = peer.pending[message.slot];
    if (pending != 0) return false;
    auto& source = peer.sources[message.slot];
    if (source.size() < message.size_bytes) source.resize(message.size_bytes);
    fill({source.data(), message.size_bytes}, message.data_seed);
    std::vector<std::byte> local(8 + random.below(plan_.max_id_bytes - 7)),
        remote(message.id_bytes);
    std::memcpy(local.data(), &message.slot, 8);
    fill(remote, message.id_seed);
    ph_put_args args = {sizeof args,
                        source.data(),
                        message.size_bytes,
                        ph_at(&peer.region, layout_.slot_offset(me_, message.slot)),
                        {local.data(), static_cast<std::uint32_t>(local.size())},
                        {remote.data(), message.id_bytes},
                        0};
    if (random.below(8) == 0) args.flags |= PH_NO_LCE;
    if (random.below(8) == 0) args.flags |= PH_DELIVERED;
    const ph_status status = ph_put(context_, to, &args);
    if (status != PH_OK) return !check(status, "put");
    pending = (args.flags & PH_NO_LCE) != 0 ? 1 : 2;
    ++peer.posted;
    return true;
  }

  bool post_echo(ph_rank to, Peer& peer, Random& random) {
    const ph_target at = ph_at(&peer.region, layout_.echo_offset(me_));
    if (peer.echo == Echo::free) {
      peer.echo_source.resize(random_size(random, kSmallSlotBytes));
      peer.echo_seed = random.next();
      fill(peer.echo_source, peer.echo_seed);
      ph_put_args args = {
          sizeof args, peer.echo_source.data(), peer.echo_source.size(), at, {&kEchoPut, 8},
          {},          PH_NO_RCE | PH_DELIVERED};
      const ph_status status = ph_put(context_, to, &args);
      if (status == PH_OK) peer.echo = Echo::putting;
      return check(status, "put") && status == PH_OK;
    }
    if (peer.echo != Echo::landed) return false;
    peer.echo_landing.assign(peer.echo_source.size(), std::byte{0});
    ph_get_args args = {sizeof args, peer.echo_landing.data(), peer.echo_landing.size(),
                        at,          {&kEchoGet, 8},           {},
                        PH_NO_RCE};
    const ph_status status = ph_get(context_, to, &args);
    if (status == PH_OK) peer.echo = Echo::reading;
    return check(status, "get") && status == PH_OK;
  }

  bool post_get(ph_rank to, Peer& peer, Random& random) {
    if (peer.gets != 0) return false;
    peer.get_offset = random.below(kConstantBytes / 8) * 8;
    peer.get_landing.assign(random_size(random, kConstantBytes - peer.get_offset), std::byte{0});
    if (peer.get_landing.size() > kConstantBytes - peer.get_offset) return false;
    ph_get_args args = {sizeof args,
                        peer.get_landing.data(),
                        peer.get_landing.size(),
                        ph_at(&peer.region, peer.get_offset),
                        {&kGet, 8},
                        {},
                        PH_NO_RCE};
    const ph_status status = ph_get(context_, to, &args);
    if (status == PH_OK) peer.gets = 1;
    return check(status, "get") && status == PH_OK;
  }

  bool take_local() {
    ph_completion found[8];
    std::vector<std::byte> ids(8 * PH_MAX_ID_BYTES);
    std::size_t count = 0;
    if (!check(ph_probe(context_, {PH_ANY_RANK, PH_LOCAL, ids.data()}, found, 8, &count), "probe"))
      return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (found[i].status != PH_OK && !check(found[i].status, "completion")) return false;
      Peer& peer = peers_[found[i].peer];
      const std::scoped_lock lock(peer.mutex);
      if (!completed(found[i].peer, peer, found[i].id)) return false;
    }
    return true;
  }

  bool completed(ph_rank rank, Peer& peer, std::uint64_t id) {
    if (id == kEchoPut) {
      peer.echo = Echo::landed;
    } else if (id == kEchoGet) {
      peer.echo = Echo::free;
      ++echoes_count_;
      return same(peer.echo_landing, peer.echo_seed, "echo", rank);
    } else if (id == kGet) {
      peer.gets = 0;
      return same(peer.get_landing, constant_seed(plan_.seed, rank) + peer.get_offset / 8, "get",
                  rank);
    } else if (id >= kSlots || peer.pending[id] == 0) {
      return fail("a local id that was not posted: " + std::to_string(id));
    } else {
      --peer.pending[id];
    }
    return true;
  }

  bool same(std::span<const std::byte> bytes, std::uint64_t seed, const char* what, ph_rank rank) {
    const std::size_t at = first_difference(bytes, seed);
    if (at == bytes.size()) return true;
    return fail(std::string(what) + " with rank " + std::to_string(rank) + ": byte " +
                std::to_string(at) + " of " + std::to_string(bytes.size()) + " is wrong");
  }

  bool take_remote() {
    const std::unique_lock lock(remote_mutex_, std::try_to_lock);
    if (!lock) return true;
    ph_completion found[4];
    std::vector<std::byte> ids(4 * PH_MAX_ID_BYTES);
    std::size_t count = 0;
    if (!check(ph_probe(context_, {PH_ANY_RANK, PH_REMOTE, ids.data()}, found, 4, &count), "probe"))
      return false;
    for (std::size_t i = 0; i < count; ++i)
      if (!received(found[i])) return false;
    for (ph_rank rank = 0; rank < peers_.size(); ++rank) {
      Peer& peer = peers_[rank];
      if (peer.told != peer.received && tell(rank, peer.received, kAckIdBytes))
        peer.told = peer.received;
    }
    return !failed_;
  }

  // An id of a size that no message has.
  bool tell(ph_rank to, std::uint64_t value, std::uint32_t id_bytes) {
    ph_put_args args = {sizeof args, nullptr, 0, {}, {}, {&value, id_bytes}, PH_NO_LCE};
    const ph_status status = ph_put(context_, to, &args);
    return check(status, "put") && status == PH_OK;
  }

  bool received(const ph_completion& one) {
    Peer& peer = peers_[one.peer];
    if (one.id_size_bytes == kFinishedIdBytes) {
      peer.finished = true;
      return true;
    }
    if (one.id_size_bytes == kAckIdBytes) {
      const std::scoped_lock lock(peer.mutex);
      if (one.id < peer.acked || one.id > peer.posted) return fail("an acknowledgement of nothing");
      for (; peer.acked < one.id; ++peer.acked) --peer.pending[peer.acked % kSlots];
      return true;
    }
    const Message wanted =
        message_at(plan_.seed, {one.peer, me_}, peer.received, layout_, plan_.max_id_bytes);
    const void* id = one.long_id != nullptr ? one.long_id : &one.id;
    const std::span id_bytes{static_cast<const std::byte*>(id), one.id_size_bytes};
    if (one.id_size_bytes != wanted.id_bytes ||
        first_difference(id_bytes, wanted.id_seed) != wanted.id_bytes)
      return fail("message " + std::to_string(peer.received) + " of rank " +
                  std::to_string(one.peer) + " is missing or out of order");
    ++peer.received;
    ++verified_count_;
    return same(memory_.subspan(layout_.slot_offset(one.peer, wanted.slot), wanted.size_bytes),
                wanted.data_seed, "message", one.peer);
  }

  // Ours are all answered: tell; theirs too: over.
  bool all_over() {
    bool over = true;
    const std::scoped_lock remote(remote_mutex_);
    for (ph_rank rank = 0; rank < peers_.size(); ++rank) {
      Peer& peer = peers_[rank];
      if (!peer.told_finished) {
        const std::scoped_lock lock(peer.mutex);
        const bool busy = peer.gets != 0 || peer.echo == Echo::putting ||
                          peer.echo == Echo::reading || peer.acked != peer.posted ||
                          std::any_of(peer.pending, peer.pending + kSlots,
                                      [](unsigned waits) { return waits != 0; });
        if (!busy) peer.told_finished = tell(rank, 1, kFinishedIdBytes);
      }
      over = over && peer.told_finished && peer.finished && peer.told == peer.received;
    }
    return over;
  }

  ph_context* const context_;
  const Plan plan_;
  const ph_rank me_;
  const Layout layout_;
  std::vector<Peer> peers_;
  std::vector<std::byte> ordinary_;
  std::span<std::byte> memory_;
  std::chrono::steady_clock::time_point end_;
  std::mutex remote_mutex_;  // before a peer's
  std::mutex failure_mutex_;
  std::string failure_;
  std::atomic<bool> failed_ = false;
  std::atomic<std::uint64_t> verified_count_ = 0;
  std::atomic<std::uint64_t> echoes_count_ = 0;
};

}  // namespace photon::stress
