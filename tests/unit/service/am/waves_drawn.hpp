// Quiesces of 1 to 40 ranks in drawn orders: messages whose handlers send on, messages that queue,
// calls that come late and go away again, lines that are short, deaths, links that are lost, ranks
// that leave.
// Owner: the test. Threads: one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <string>

#include "service/am/waves.hpp"
#include "service/fake_port.hpp"
#include "transport/sim/sim_random.hpp"

namespace photon::service::am {

using transport::sim::Random;

class DrawnNet;

class DrawnPort final : public test::FakePort {
 public:
  DrawnPort(DrawnNet& net, Rank rank, std::uint32_t ranks)
      : FakePort(wire::Owner::am, ranks), net_(net), rank_(rank) {}
  Rank rank() const noexcept override { return rank_; }
  ph_status contact(Rank rank) override;
  void complete(std::uint64_t promise, ph_status status, const char* why) noexcept override {
    FakePort::complete(promise, status, why);
    completed = status;
  }

  std::optional<ph_status> completed;

 private:
  DrawnNet& net_;
  const Rank rank_;
};

// A message of the job: it counts for the quiesces from `tag` on, as what had its sender send it.
struct Parcel {
  Rank from = 0;
  std::uint32_t tag = 0;
  std::uint32_t hops = 0;
};

struct Member final : Service {
  Member(DrawnNet& net, Rank rank, std::uint32_t ranks, std::uint32_t waves_wanted)
      : port(net, rank, ranks),
        gates(ranks, 8),
        outbox(ranks),
        waves(
            port, gates, [this] { return inbox.empty() && queued == 0; }, waves_wanted) {
    port.serve(*this);
  }
  bool on_message(const Message& message) override {
    const auto word = decode(word_at(message.header, 0));
    return word && waves.on_message(message.from, word->op, message.header.subspan(8));
  }
  void on_lost(Rank rank, ph_status why) noexcept override {
    lost.insert(rank);
    waves.on_lost(rank, why);
  }
  void on_room(Rank rank) override { waves.on_room(rank); }
  bool turn() override {
    waves.turn();
    return false;
  }

  DrawnPort port;
  Gates gates;
  std::deque<Parcel> inbox;
  std::vector<std::deque<Parcel>> outbox;  // by target
  std::uint64_t queued = 0;
  std::set<Rank> lost;
  std::set<Rank> met;
  Waves waves;
  std::uint32_t begun = 0;
  bool is_waiting = false;  // in one, in a call
  bool is_under_way = false;
  bool is_promised = false;
  bool is_broken = false;
  ph_status gone = PH_OK;  // why it takes part no more
};

struct Chances {
  std::uint64_t death = 0;  // of 10,000 steps
  std::uint64_t cut = 0;
  std::uint64_t refusal = 5;  // of 100
};

class DrawnNet {
 public:
  static constexpr std::uint32_t kQuiesces = 3;

  DrawnNet(std::uint64_t seed, Chances chances, std::uint32_t waves_wanted = 2)
      : draw_(seed), chances_(chances), ranks_(1 + static_cast<std::uint32_t>(draw_.up_to(39))) {
    letters_.resize(std::size_t{ranks_} * ranks_);
    parcels_.resize(letters_.size());
    for (Rank rank = 0; rank < ranks_; ++rank)
      members_.push_back(std::make_unique<Member>(*this, rank, ranks_, waves_wanted));
    // Few messages, and letters that are slower than they: so sums are the likeliest to deceive.
    sends_left_ = draw_.up_to(draw_.up_to(1) == 0 ? 3 : 3 * ranks_);
    letter_speed_ = draw_.up_to(1) == 0 ? 10'000 : 1'000;
    parcel_speed_ = draw_.up_to(3) == 0 ? 10'000 : 500 + draw_.up_to(2'000);
  }

  // What went wrong, or nothing.
  std::string run() {
    constexpr int kMostSteps = 2'000'000;
    for (int step = 0; step < kMostSteps; ++step) {
      if (is_over()) return finding_;
      one_step();
      if (!finding_.empty()) return finding_;
    }
    return "it does not end";
  }
  bool has_lost() const noexcept { return has_lost_; }
  std::uint32_t errors() const noexcept { return errors_; }
  ph_status gone(Rank rank) const noexcept { return members_[rank]->gone; }

  void note_contact(Rank at, Rank rank) {
    Member& member = *members_[at];
    member.met.insert(rank);
    members_[rank]->met.insert(at);
    if (gone(rank) != PH_OK && !member.lost.contains(rank)) lose(at, rank, gone(rank));
  }

 private:
  Member& any() { return *members_[draw_.up_to(ranks_ - 1)]; }
  bool has_gone(const Member& member) const noexcept { return member.gone != PH_OK; }
  // The first rank of which that is so, from a drawn one on.
  template <class Is>
  std::optional<Rank> drawn(Is is) {
    const auto first = static_cast<Rank>(draw_.up_to(ranks_ - 1));
    for (Rank i = 0; i < ranks_; ++i)
      if (const Rank rank = (first + i) % ranks_; is(rank)) return rank;
    return std::nullopt;
  }
  std::size_t flow(Rank from, Rank to) const noexcept { return std::size_t{from} * ranks_ + to; }
  bool chance(std::uint64_t of_10000) { return draw_.up_to(9'999) < of_10000; }

  bool is_over() const noexcept {
    for (const auto& one : members_)
      if (!has_gone(*one)) return false;
    return true;
  }

  void one_step() {
    Member& member = any();
    if (chance(chances_.death)) die(any());
    if (chance(chances_.cut)) cut(any().port.rank(), any().port.rank());
    if (has_gone(member)) return tell_gone(member);
    switch (draw_.up_to(7)) {
      case 0: return send_some(member);
      case 1: return call(member);
      case 2: return move_parcel(member);
      case 3: return handle(member);
      case 4: return send_queued(member);
      default: return go_on(member);
    }
  }

  // ---- the job's messages

  void accept(Member& member, Rank to, Parcel parcel) {
    if (member.lost.contains(to)) return;
    if (chance(2'000) || !member.outbox[to].empty()) {
      ++member.gates.beside_sent;
      ++member.queued;
      member.outbox[to].push_back(parcel);
      return;
    }
    ++member.gates.of(to).sent;
    parcels_[flow(member.port.rank(), to)].push_back(parcel);
  }
  void send_some(Member& member) {
    // Who is in a call sends seldom: threads may, but then it need not wait for that.
    if (sends_left_ == 0 || (member.is_under_way && !chance(500))) return;
    --sends_left_;
    accept(member, any().port.rank(),
           {member.port.rank(), member.begun, static_cast<std::uint32_t>(draw_.up_to(4))});
  }
  void send_queued(Member& member) {
    const auto to = drawn([&](Rank rank) { return !member.outbox[rank].empty(); });
    if (!to) return;
    parcels_[flow(member.port.rank(), *to)].push_back(member.outbox[*to].front());
    member.outbox[*to].pop_front();
    --member.queued;
    --member.gates.beside_sent;
    ++member.gates.of(*to).sent;
    member.waves.look();
  }
  void move_parcel(Member& member) {
    if (!chance(parcel_speed_)) return;
    const Rank to = member.port.rank();
    const auto from = drawn([&](Rank rank) { return !parcels_[flow(rank, to)].empty(); });
    if (!from) return;
    auto& coming = parcels_[flow(*from, to)];
    member.inbox.push_back(coming.front());
    coming.pop_front();
  }
  void handle(Member& member) {
    if (member.inbox.empty()) return;
    const Parcel parcel = member.inbox.front();
    const std::uint64_t fan = parcel.hops == 0 ? 0 : draw_.up_to(3);
    for (std::uint64_t i = 0; i < fan; ++i)
      accept(member, any().port.rank(), {member.port.rank(), parcel.tag, parcel.hops - 1});
    member.inbox.pop_front();
    ++member.gates.of(parcel.from).handled;
    member.waves.look();
  }

  // ---- calls

  void call(Member& member) {
    if (member.is_waiting) {
      if (chance(1'000)) {
        member.waves.leave();
        member.is_waiting = false;
      }
      return;
    }
    if (member.is_promised) return;
    if (!member.is_under_way && (member.begun == kQuiesces || member.is_broken)) {
      if (member.waves.is_idle() && chance(500)) depart(member);
      return;
    }
    if (!chance(3'000)) return;
    if (!member.is_under_way && chance(5'000)) {
      ph_request request{};
      begun(member, member.waves.begin(&request), true);
    } else {
      begun(member, member.waves.enter(), false);
    }
  }
  void begun(Member& member, ph_status status, bool is_promised) {
    if (status == PH_AGAIN) return;
    const bool is_new = !member.is_under_way;
    if (is_new) ++member.begun;
    if (status != PH_OK) return ended(member, status);
    if (member.is_broken) finding_ = "it was broken, and begins again";
    member.is_under_way = true;
    member.is_waiting = !is_promised;
    member.is_promised = is_promised;
  }
  void go_on(Member& member) {
    if (draw_.up_to(99) < chances_.refusal) member.port.refuse(draw_.up_to(3), draw_.up_to(4));
    if (draw_.up_to(99) < 20) member.port.refuse_nothing();
    for (Rank rank = 0; rank < ranks_; ++rank)
      if (chance(2'000)) member.port.give_room(rank);
    hear_letter(member);
    // One rank's own turns may last for as long as its message to itself is on its way.
    try {
      if (chance(3'000)) member.port.run_turns();
    } catch (const std::runtime_error&) {
    }
    collect(member);
    if (member.is_promised && member.port.completed) {
      member.is_promised = member.is_under_way = false;
      ended(member, *std::exchange(member.port.completed, std::nullopt));
    }
    if (member.is_waiting && member.waves.has_end()) {
      member.is_waiting = member.is_under_way = false;
      ended(member, member.waves.take());
    }
  }
  void ended(Member& member, ph_status status) {
    const std::string who = "rank " + std::to_string(member.port.rank()) + " of " +
                            std::to_string(ranks_) + " in quiesce " +
                            std::to_string(member.begun - 1) + ": ";
    if (status != PH_OK) {
      ++errors_;
      member.is_broken = true;
      if (!has_lost_)
        finding_ = who + "error " + std::to_string(status) + ", though nobody is lost";
    } else if (member.is_broken) {
      finding_ = who + "over, though it was broken";
    } else if (is_any_left(member.begun - 1)) {
      finding_ = who + "over, though something is under way";
    }
  }
  bool is_any_left(std::uint32_t quiesce) const {
    const auto counts = [quiesce](const Parcel& one) { return one.tag <= quiesce; };
    const auto has = [&](const std::deque<Parcel>& all) {
      return std::any_of(all.begin(), all.end(), counts);
    };
    if (std::any_of(parcels_.begin(), parcels_.end(), has)) return true;
    for (const auto& one : members_)
      if (has(one->inbox) || std::any_of(one->outbox.begin(), one->outbox.end(), has)) return true;
    return has(dropped_);
  }

  // ---- the service's messages

  void collect(Member& member) {
    for (test::Said said; member.port.take(said);)
      if (gone(said.to) == PH_OK && !member.lost.contains(said.to))
        letters_[flow(member.port.rank(), said.to)].push_back(said.header);
  }
  void hear_letter(Member& member) {
    if (!chance(letter_speed_)) return;
    const Rank to = member.port.rank();
    const auto from = drawn([&](Rank rank) {
      return !letters_[flow(rank, to)].empty() && !member.lost.contains(rank);
    });
    if (!from) return;
    auto& coming = letters_[flow(*from, to)];
    const test::Bytes letter = coming.front();
    coming.pop_front();
    if (!member.port.deliver({*from, letter, {}, {}}))
      finding_ = "rank " + std::to_string(*from) + " is cut off though it keeps the rules";
  }

  // ---- ends

  void drop(std::deque<Parcel>& all) {
    dropped_.insert(dropped_.end(), all.begin(), all.end());
    all.clear();
  }
  void lose(Rank at, Rank rank, ph_status why) {
    collect(*members_[at]);
    letters_[flow(at, rank)].clear();
    letters_[flow(rank, at)].clear();
    drop(parcels_[flow(at, rank)]);
    drop(parcels_[flow(rank, at)]);
    Member& member = *members_[at];
    drop(member.outbox[rank]);
    member.port.lose(rank, why);
  }
  void die(Member& member) {
    if (has_gone(member)) return;
    has_lost_ = true;
    member.gone = PH_ERR_PEER;
    drop(member.inbox);
    for (auto& one : member.outbox) drop(one);
    // Of what it has said a part may still come.
    for (Rank to = 0; to < ranks_; ++to) {
      auto& letters = letters_[flow(member.port.rank(), to)];
      letters.resize(draw_.up_to(letters.size()));
      drop(parcels_[flow(member.port.rank(), to)]);
    }
  }
  void depart(Member& member) {
    collect(member);
    member.gone = PH_ERR_DEPARTED;
    if (member.waves.held() != 0) finding_ = "it holds something though nothing is under way";
  }
  // Somebody notices, when all has come that shall come.
  void tell_gone(Member& member) {
    const Rank rank = member.port.rank();
    Member& at = any();
    if (has_gone(at) || at.lost.contains(rank) || !at.met.contains(rank)) return;
    if (!letters_[flow(rank, at.port.rank())].empty()) return hear_letter(at);
    lose(at.port.rank(), rank, member.gone);
  }
  void cut(Rank one, Rank other) {
    if (one == other || gone(one) != PH_OK || gone(other) != PH_OK) return;
    if (members_[one]->lost.contains(other)) return;
    has_lost_ = true;
    lose(one, other, PH_ERR_PROTOCOL);
    lose(other, one, PH_ERR_PEER);
  }

  Random draw_;
  const Chances chances_;
  const std::uint32_t ranks_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::deque<test::Bytes>> letters_;  // of the service, by sender and target
  std::vector<std::deque<Parcel>> parcels_;       // of the job
  std::deque<Parcel> dropped_;
  std::uint64_t sends_left_ = 0;
  std::uint64_t parcel_speed_ = 0;  // of 10,000
  std::uint64_t letter_speed_ = 0;
  bool has_lost_ = false;
  std::uint32_t errors_ = 0;
  std::string finding_;
};

inline ph_status DrawnPort::contact(Rank rank) {
  net_.note_contact(rank_, rank);
  return FakePort::contact(rank);
}

}  // namespace photon::service::am
