// What a service stands on, made by a test: it writes down what the service does, answers as the
// test wants it to, and finds fault with a service that breaks the contract (service/service.hpp).
//
//   rank: unknown -- contact(), a message --> met -- lose() --> lost, told to the service once
//
// It has no outlets, so that every message comes to say(). Owner: the test. Threads: one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "said.hpp"
#include "service/service.hpp"

namespace photon::test {

class FakePort : public service::Port {
 public:
  static constexpr std::uint32_t kSize = 4;
  static constexpr Rank kNobody = 0xffff'ffff;
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  explicit FakePort(wire::Owner owner, std::uint32_t ranks_count = kSize)
      : Port(owner), peers_(ranks_count) {}

  // ---- what the test wants
  void serve(service::Service& service) noexcept { service_ = &service; }
  // From the n-th call on that may be told PH_AGAIN, `count` of them are.
  void refuse(std::uint64_t n, std::uint64_t count = 1) noexcept {
    refused_from_ = asked_ + n;
    refused_to_ = count == kNever ? kNever : refused_from_ + count;
  }
  void refuse_nothing() noexcept { refused_from_ = refused_to_ = 0; }
  // Inside the n-th call that names a rank that rank is lost.
  void lose_inside(std::uint64_t n) noexcept { lost_at_ = named_ + n; }

  // Nothing comes from it any more, and it takes nothing.
  void lose(Rank rank, ph_status why = PH_ERR_PEER) {
    Peer& peer = peers_[rank];
    if (peer.broken != PH_OK) return;
    peer.broken = why;
    for (Said& one : said_)
      if (one.to == rank && one.is_body && one.token != kNever) ends_.push_back(take_end(one, why));
    std::erase_if(said_, [&](const Said& one) { return one.to == rank; });
    for (const Got& one : gets_)
      if (one.from == rank) ends_.push_back({rank, one.what.token, why});
    std::erase_if(gets_, [&](const Got& one) { return one.from == rank; });
    service_->on_lost(rank, why);
  }
  // As the engine would: what is malformed, or finds no memory, ends its sender. Of a rank that is
  // lost nothing comes.
  bool deliver(const Coming& coming) {
    if (peers_[coming.from].broken != PH_OK) return false;
    peers_[coming.from].is_met = true;
    ph_status why = PH_ERR_PROTOCOL;
    try {
      if (coming.size_bytes == 0
              ? service_->on_message({coming.from, coming.header, coming.payload})
              : show_chunk(coming))
        return true;
    } catch (const std::bad_alloc&) {
      why = PH_ERR_MEMORY;
    }
    lose(coming.from, why);
    return false;
  }
  // Everything that the service wants to be called for, until it wants no more. True: something.
  bool run_turns() {
    int turns = 0;
    while (turn())
      if (++turns == 10'000) throw std::runtime_error("the service wants turns for ever");
    return turns != 0;
  }
  // The oldest message that was said and not taken; its body has left then.
  bool take(Said& said) {
    if (said_.empty()) return false;
    said = std::move(said_.front());
    said_.erase(said_.begin());
    if (said.is_body && said.token != kNever)
      service_->on_local(said.to, std::exchange(said.token, kNever), PH_OK);
    return true;
  }
  std::size_t waiting() const noexcept { return said_.size(); }
  void give_room(Rank rank) {
    if (std::exchange(peers_[rank].room_wanted, false)) service_->on_room(rank);
  }

  std::size_t gets() const noexcept { return gets_.size(); }
  // The oldest get is over: its bytes are there, which the test's process can read.
  void end_get(ph_status status = PH_OK) {
    const Got got = gets_.front();
    gets_.erase(gets_.begin());
    if (status == PH_OK && !got.is_given_up)
      std::memcpy(got.what.to.data(), reinterpret_cast<const void*>(got.what.from.address),
                  got.what.to.size());
    service_->on_local(got.from, got.what.token, status);
  }
  bool gets_are_stuck = false;  // they cannot be given up

  std::int64_t tick_ns = 1;     // that goes by with each look at the clock
  Rank out_of_reach = kNobody;  // until it says something itself
  ph_status why_out_of_reach = PH_ERR_NOT_FOUND;
  bool shares = false;        // memory with all other ranks
  Rank is_blind_for = kSize;  // whose shared memory cannot be seen
  std::size_t shared() const noexcept { return shared_.size(); }
  std::uint64_t wakes() const noexcept { return wakes_; }
  // Time goes by, and who waits for it wants a turn.
  void pass(std::int64_t ns) {
    now_ns_ += ns;
    if (service_->next_turn_ns() <= now_ns_) wants_turn_ = true;
  }

  // ---- what the service holds of the engine's
  std::size_t loans() const noexcept { return loans_.size(); }
  std::size_t exposures() const noexcept { return exposed_.size(); }
  std::size_t promises() const noexcept { return promises_.size(); }
  std::uint64_t told() const noexcept { return told_; }  // users, of what they were promised
  std::uint64_t named() const noexcept { return named_; }
  std::uint64_t asked() const noexcept { return asked_; }
  bool holds_nothing() const noexcept {
    return loans_.empty() && exposed_.empty() && promises_.empty();
  }

  // ---- Port
  ph_status say(const service::Saying& what, std::uint64_t* ticket) override {
    if (ticket != nullptr) *ticket = 0;
    EXPECT_FALSE(what.header.empty());
    EXPECT_LE(what.header.size(), wire::kMaxIdBytes);
    EXPECT_LE(what.payload.size(), wire::kMaxPackedBytes);
    if (const ph_status status = contact(what.to); status != PH_OK) return status;
    const bool must_go = what.must_go || what.behind_all;
    if (!must_go && is_refused()) return again_of(what.to);
    said_.push_back({what.to, bytes_of(what.header), bytes_of(what.payload), false, {}, kNever});
    return PH_OK;
  }
  bool unsay(Rank, std::uint64_t) noexcept override { return false; }
  ph_status say_body(const service::Saying& what, std::span<const std::byte> body,
                     std::uint64_t token) override {
    if (const ph_status status = contact(what.to); status != PH_OK) return status;
    if (is_refused()) return again_of(what.to);
    said_.push_back(
        {what.to, bytes_of(what.header), bytes_of(what.payload), true, bytes_of(body), token});
    return PH_OK;
  }
  void give_back(Rank from, std::uint64_t loan) override {
    EXPECT_EQ(loans_.erase({from, loan}), 1u) << "given back twice, or never lent";
  }
  std::uint64_t mark(Rank to) noexcept override { return peers_[to].is_met ? 1 : 0; }
  bool was_read(Rank, std::uint64_t) noexcept override { return false; }
  void note_read(Rank, std::uint64_t) noexcept override {}

  // Nothing is read before end_get().
  ph_status get(Rank from, const Fetch& what, std::uint64_t& handle) override {
    if (const ph_status status = contact(from); status != PH_OK) return status;
    if (is_refused()) return PH_AGAIN;
    handle = ++last_get_;
    gets_.push_back({from, what, handle, false});
    return PH_OK;
  }
  bool give_up(std::uint64_t handle) noexcept override {
    for (Got& one : gets_)
      if (one.handle == handle) one.is_given_up = !gets_are_stuck;
    return !gets_are_stuck;
  }

  ph_status contact(Rank rank) override {
    if (rank >= size()) return fail(PH_ERR_RANK, rank, "no such rank");
    if (rank == out_of_reach && !peers_[rank].is_met)
      return fail(why_out_of_reach, rank, "it cannot be met");
    if (++named_ == lost_at_) lose(rank);
    peers_[rank].is_met = true;
    const ph_status broken = peers_[rank].broken;
    return broken == PH_OK ? PH_OK : fail(broken, rank, "it is lost");
  }
  ph_status state(Rank rank) const noexcept override { return peers_[rank].broken; }
  bool may_live(Rank) const noexcept override { return true; }
  void cut_off(Rank rank, const char*) override { lose(rank, PH_ERR_PROTOCOL); }
  Rank rank() const noexcept override { return 0; }
  std::uint32_t size() const noexcept override { return static_cast<std::uint32_t>(peers_.size()); }
  const base::Config& config() const noexcept override { return config_; }

  std::uint64_t promise(const service::UserEnd& end) override {
    if (!end.is_beyond && is_refused()) return 0;
    promises_[++last_promise_] = 0;
    return last_promise_;
  }
  void complete(std::uint64_t promise, ph_status status, const char*) noexcept override {
    const auto one = promises_.find(promise);
    ASSERT_NE(one, promises_.end()) << "completed without a promise";
    const int times = ++one->second;
    EXPECT_TRUE(times == 1 || (times == 2 && status < PH_OK)) << "completed " << times << " times";
    if (times == 1) ++told_;
  }
  void release(std::uint64_t promise) noexcept override {
    const auto one = promises_.find(promise);
    ASSERT_NE(one, promises_.end()) << "released without a promise";
    EXPECT_NE(one->second, 0) << "its user was never told";
    promises_.erase(one);
  }
  void renounce(std::uint64_t promise) noexcept override {
    const auto one = promises_.find(promise);
    ASSERT_NE(one, promises_.end()) << "renounced without a promise";
    EXPECT_EQ(one->second, 0) << "renounced though its user was told";
    promises_.erase(one);
  }
  ph_status again() noexcept override { return PH_AGAIN; }
  void hand_over(std::uint64_t, ph_request*) noexcept override {}

  ph_status expose(std::span<const std::byte> memory, std::uint32_t,
                   service::Exposed& exposed) override {
    exposed_.push_back(++last_key_);
    exposed = {{reinterpret_cast<std::uint64_t>(memory.data()), last_key_}, true};
    return PH_OK;
  }
  void conceal(service::Exposed& exposed) noexcept override {
    if (!std::exchange(exposed.is_own, false)) return;
    EXPECT_EQ(std::erase(exposed_, exposed.target.key), 1u) << "concealed twice";
  }

  bool shares_memory(Rank) const noexcept override { return shares; }
  std::span<std::byte> share(std::size_t size_bytes) override {
    shared_.push_back(
        std::make_unique<Shared[]>((size_bytes + sizeof(Shared) - 1) / sizeof(Shared)));
    return {shared_.back()[0].bytes, size_bytes};
  }
  const std::byte* see(Rank rank, std::uint64_t address, std::uint64_t) override {
    EXPECT_TRUE(peers_[rank].is_met) << "it is not met, so that nothing of it is mapped";
    return rank == is_blind_for ? nullptr : reinterpret_cast<const std::byte*>(address);
  }
  void wake_rank(Rank) noexcept override { ++wakes_; }
  void wants_looks(bool wants) noexcept override { wants_looks_ = wants; }

  void wants_turn() noexcept override { wants_turn_ = true; }
  void wants_run() noexcept override { wants_run_ = true; }
  void wake() noexcept override {}
  std::int64_t now_ns() noexcept override { return now_ns_ += tick_ns; }

 protected:
  bool is_refused() noexcept {
    const std::uint64_t at = asked_++;
    return at >= refused_from_ && at < refused_to_;
  }
  ph_status again_of(Rank to) noexcept {
    peers_[to].room_wanted = true;
    return PH_AGAIN;
  }
  void note_said(Said said) { said_.push_back(std::move(said)); }

 private:
  struct Peer {
    ph_status broken = PH_OK;
    bool is_met = false;
    bool room_wanted = false;
  };
  struct alignas(64) Shared {
    std::byte bytes[64] = {};
  };
  struct Got {
    Rank from;
    Fetch what;
    std::uint64_t handle;
    bool is_given_up;
  };
  struct End {
    Rank to;
    std::uint64_t token;
    ph_status status;
  };

  static End take_end(Said& one, ph_status why) {
    return {one.to, std::exchange(one.token, kNever), why};
  }
  // A chunk lies in memory of its own, so that a sanitizer sees who reads it too late.
  bool show_chunk(const Coming& coming) {
    const std::uint64_t loan = next_loan_++;
    auto bytes = std::make_unique<std::byte[]>(std::max<std::size_t>(1, coming.body.size()));
    std::copy(coming.body.begin(), coming.body.end(), bytes.get());
    service::Chunk chunk{{coming.from, coming.header, coming.payload},
                         coming.size_bytes,
                         coming.offset,
                         {bytes.get(), coming.body.size()},
                         loan};
    if (coming.body.empty()) chunk.bytes = {};
    const std::pair at(coming.from, loan);
    loans_[at] = std::move(bytes);
    service::Verdict verdict = service::Verdict::malformed;
    try {
      verdict = service_->on_chunk(chunk);
    } catch (const std::bad_alloc&) {
      loans_.erase(at);
      throw;
    }
    if (verdict != service::Verdict::kept) loans_.erase(at);
    EXPECT_FALSE(coming.body.empty() && verdict == service::Verdict::kept)
        << "there is nothing to be kept";
    return verdict != service::Verdict::malformed;
  }
  // True: something was done.
  bool turn() {
    if (!ends_.empty()) {
      const End end = ends_.front();
      ends_.erase(ends_.begin());
      service_->on_local(end.to, end.token, end.status);
      return true;
    }
    if (wants_turn_) {
      wants_turn_ = false;
      bool wants_more = true;  // also if memory runs out
      try {
        wants_more = service_->turn();
      } catch (const std::bad_alloc&) {
        wants_turn_ = true;
        throw;
      }
      wants_turn_ = wants_turn_ || wants_more;
      return true;
    }
    if (wants_looks_ && service_->look()) return true;
    if (!std::exchange(wants_run_, false)) return false;
    try {
      service_->collect();
    } catch (const std::bad_alloc&) {
      wants_run_ = true;
      throw;
    }
    service_->run();
    service_->ran();
    return true;
  }
  ph_status say_anyhow(Rank to, std::span<const std::byte> header) noexcept override {
    try {
      service::Saying what;
      what.to = to;
      what.header = header;
      return say(what, nullptr);
    } catch (const std::bad_alloc&) {
      return PH_ERR_MEMORY;
    }
  }
  void tell(Rank) noexcept override {}

  base::Config config_;
  service::Service* service_ = nullptr;
  std::vector<Peer> peers_;
  std::vector<Said> said_;
  std::vector<End> ends_;
  std::vector<Got> gets_;
  std::map<std::pair<Rank, std::uint64_t>, std::unique_ptr<std::byte[]>> loans_;
  std::vector<std::uint64_t> exposed_;
  std::map<std::uint64_t, int> promises_;  // and how often each was completed
  std::uint64_t refused_from_ = 0;
  std::uint64_t refused_to_ = 0;
  std::uint64_t asked_ = 0;  // calls that may be refused, so far
  std::uint64_t named_ = 0;  // calls that name a rank, so far
  std::uint64_t lost_at_ = kNever;
  std::uint64_t last_promise_ = 0;
  std::uint64_t last_key_ = 0;
  std::uint64_t last_get_ = 0;
  std::uint64_t next_loan_ = 0;
  std::uint64_t told_ = 0;
  std::int64_t now_ns_ = 0;
  bool wants_turn_ = false;
  bool wants_run_ = false;
  bool wants_looks_ = false;
  std::vector<std::unique_ptr<Shared[]>> shared_;
  std::uint64_t wakes_ = 0;
};

}  // namespace photon::test
