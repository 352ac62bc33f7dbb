// The classic API between the two members of a team, doing what streams.hpp does with ph_ calls.
// Invariant: all ranks of the job construct and destroy it together: the classic session is of the
// whole job, formed by the job's own exchange.
// Owner: the question; one at a time in a process, as the classic API has one session.
#pragma once

#include <photon.h>

#include <vector>

#include "job.hpp"
#include "statistics.hpp"
#include "team.hpp"

namespace photon::perf {

class ClassicSession {
 public:
  ClassicSession(Job& job, const Options& options);
  ClassicSession(const ClassicSession&) = delete;
  ClassicSession& operator=(const ClassicSession&) = delete;
  ~ClassicSession();
};

class ClassicLink {
 public:
  // Both members together; `slots` words on each side.
  ClassicLink(Team& team, std::size_t slots);
  ClassicLink(const ClassicLink&) = delete;
  ClassicLink& operator=(const ClassicLink&) = delete;
  ~ClassicLink();

  // Half the round trip of an 8-byte put whose remote id triggers the reply.
  Outcome ping_pong(std::uint64_t round_trips);
  // 8-byte puts with as many in flight as there are slots; all ids are probed, one a call.
  Outcome put_stream(std::uint64_t count);

 private:
  struct Event {
    bool is_remote;
    std::uint64_t id;
  };

  int peer() const noexcept { return peer_; }
  std::uint64_t slots() const noexcept { return words_.size() / 2; }
  void put(std::uint64_t slot, std::uint64_t id);
  void notify(std::uint64_t id);
  bool probe(Event& event);
  void send_stream(std::uint64_t count);
  void receive_stream(std::uint64_t count);
  void part();

  Team* team_;
  int peer_;
  std::vector<std::uint64_t> words_;      // sources, then landings
  std::vector<photon_buffer_t> sources_;  // ready made, as programs keep them: one a slot
  std::vector<photon_buffer_t> targets_;
  std::uint64_t locals_ = 0;
};

}  // namespace photon::perf
