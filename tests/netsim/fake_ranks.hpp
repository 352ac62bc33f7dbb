// Ranks without cards and network: plays a motif's commands, delivers messages after latencies that
// are drawn (none, or up to a bound), so that they overtake each other, and counts what it sees.
// Invariant: a rank does one thing after the other, notices after its commands. Owner: one test.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "netsim/clock/random.hpp"
#include "netsim/motif/motif.hpp"

namespace photon::netsim {

class FakeRanks final : public Ranks {
 public:
  struct Sent {
    std::uint32_t from;
    Message message;
    Time time;
  };

  FakeRanks(Motif& motif, std::uint64_t seed, std::uint32_t most_latency)
      : finished(motif.ranks()),
        ends(motif.ranks()),
        motif_(motif),
        random_(seed, 1),
        most_latency_(most_latency),
        its_(motif.ranks()) {}

  void play() {
    for (std::uint32_t rank = 0; rank < its_.size(); ++rank) add(rank, 0, {Kind::start});
    while (!events_.empty()) {
      const auto first = events_.begin();
      const auto [rank, job] = first->second;
      now_ = std::get<0>(first->first);
      events_.erase(first);
      if (job.kind == Kind::over) {
        its_[rank].is_busy = false;
        motif_.on_computed(rank, *this);
      } else {
        its_[rank].notices.push_back(job);
      }
      go_on(rank);
    }
  }

  Time now() const override { return now_; }
  void send(std::uint32_t rank, const Message& message) override {
    its_[rank].commands.push_back({Kind::send, message.peer, message.tag, 0, message});
  }
  void compute(std::uint32_t rank, Time duration) override {
    its_[rank].commands.push_back({Kind::compute, 0, 0, duration, {}});
  }
  void release(std::uint32_t rank, std::uint32_t peer) override {
    if (--held[{rank, peer}] < 0) released_too_much = true;
  }
  void wake(std::uint32_t rank, Time time) override {
    add(rank, std::max(now_, time) - now_, {Kind::woken});
  }
  void finish(std::uint32_t rank) override { its_[rank].commands.push_back({Kind::finish}); }

  std::vector<Sent> sent;
  std::vector<std::uint32_t> finished;                          // rank: how often
  std::vector<Time> ends;                                       // rank: when at last
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> held;  // (rank, peer): not released
  bool released_too_much = false;
  Time last = 0;
  Time computed = 0;

  int held_in_all() const {
    int all = 0;
    for (const auto& [_, count] : held) all += count != 0 ? 1 : 0;
    return all;
  }

 private:
  enum class Kind { start, send, compute, finish, over, message, sent, woken };
  struct Job {
    Kind kind = Kind::start;
    std::uint32_t peer = 0;
    std::uint16_t tag = 0;
    Time duration = 0;
    Message message = {};
  };
  struct Its {
    std::deque<Job> commands;
    std::deque<Job> notices;
    bool is_busy = false;
  };

  void add(std::uint32_t rank, Time later, const Job& job) {
    // Among what is due at one time the order is drawn, too; but all begin before they are told.
    const std::uint64_t drawn = job.kind == Kind::start ? 0 : random_.next();
    events_.emplace(std::tuple(now_ + later, drawn, ++number_), std::pair(rank, job));
  }
  Time latency() { return most_latency_ == 0 ? 0 : random_.below(most_latency_); }

  void go_on(std::uint32_t rank) {
    Its& its = its_[rank];
    while (!its.is_busy) {
      std::deque<Job>& list = its.commands.empty() ? its.notices : its.commands;
      if (list.empty()) return;
      const Job job = list.front();
      list.pop_front();
      carry_out(rank, job);
    }
  }

  void carry_out(std::uint32_t rank, const Job& job) {
    switch (job.kind) {
      case Kind::start: return motif_.start(rank, *this);
      case Kind::woken: return motif_.on_woken(rank, *this);
      case Kind::sent: return motif_.on_sent(rank, job.peer, job.tag, *this);
      case Kind::message:
        ++held[{rank, job.peer}];
        return motif_.on_message(rank, job.peer, job.tag, *this);
      case Kind::send:
        sent.push_back({rank, job.message, now_});
        add(job.peer, latency(), {Kind::message, rank, job.tag});
        if (job.message.is_told) add(rank, latency(), {Kind::sent, job.peer, job.tag});
        return;
      case Kind::compute:
        its_[rank].is_busy = true;
        computed += job.duration;
        return add(rank, job.duration, {Kind::over});
      case Kind::finish:
        ++finished[rank];
        last = ends[rank] = now_;
        return;
      case Kind::over: return;
    }
  }

  Motif& motif_;
  Random random_;
  std::uint32_t most_latency_;
  std::vector<Its> its_;
  std::map<std::tuple<Time, std::uint64_t, std::uint64_t>, std::pair<std::uint32_t, Job>> events_;
  std::uint64_t number_ = 0;
  Time now_ = 0;
};

}  // namespace photon::netsim
