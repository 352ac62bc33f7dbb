// The hosts of one part: their ranks, each of which does one thing at a time.
//
//   idle --a command, or a notice that was looked at--> busy --its time is over--> idle
//
// A rank carries out the motif's commands in their order; with none left it takes the notices that
// were written to it, in the order of writing. What takes no time leaves the rank idle. Notices are
// looked at by an event, so that all that cards do at one picosecond comes first.
// Invariant: a rank is busy exactly if an event for its end is queued. Nothing is allocated once
// the pool has its size. Owner: one worker; ranks of other parts are never touched.
#pragma once

#include <vector>

#include "netsim/motif/motif.hpp"
#include "netsim/net/packet.hpp"
#include "netsim/nic/port.hpp"
#include "netsim/queue/event_queue.hpp"
#include "netsim/run/placement.hpp"

namespace photon::netsim {

// What hosts need of those around them.
class HostSide {
 public:
  virtual ~HostSide() = default;
  virtual Time now() const = 0;
  virtual EventQueue& queue() = 0;
  virtual nic::Card& card(std::uint32_t node) = 0;
  virtual void finished(std::uint32_t rank) = 0;
  virtual void took_message(std::uint64_t latency_ns) = 0;
};

// Between ranks of one node.
struct Local {
  Time latency = 500000;
  double GBps = 20;
};

struct NodeRange {
  std::uint32_t first = 0;
  std::uint32_t end = 0;  // behind the last one
};

class Hosts final : private Ranks {
 public:
  Hosts(HostSide& around, Motif& motif, const Placement& placement, Local local, NodeRange nodes);

  std::uint64_t first_place() const { return first_place_; }
  std::uint64_t places() const { return states_.size(); }
  void start();  // queues the first event of each rank
  // A notice that its card wrote for a rank, now.
  void write(const nic::Rank& place, const nic::Notice& notice);
  void handle(std::uint32_t rank, std::uint64_t payload);       // an event of a rank
  std::uint64_t posted_bytes() const { return posted_bytes_; }  // to other nodes

 private:
  enum class JobKind : std::uint8_t { send, compute, release, finish, message, sent, woken };
  struct Job {
    Time duration = 0;  // of a compute, or what taking a notice costs
    std::uint32_t next = kNone;
    std::uint32_t peer = 0;  // rank
    std::uint32_t bytes = 0;
    std::uint32_t posted_ns = 0;
    std::uint16_t tag = 0;
    JobKind kind = JobKind::finish;
    bool is_told = false;
    bool is_local = false;
  };
  struct State {
    List commands;
    List notices;
    std::uint32_t current = kNone;  // what it is busy with
    bool is_running = false;        // go_on() is at work
    bool is_woken = false;          // an event to look at notices is queued
  };

  // Of the motif.
  Time now() const override { return around_.now(); }
  void send(std::uint32_t rank, const Message& message) override;
  void compute(std::uint32_t rank, Time duration) override;
  void release(std::uint32_t rank, std::uint32_t peer) override;
  void wake(std::uint32_t rank, Time time) override;
  void finish(std::uint32_t rank) override;

  State& state(std::uint32_t rank);
  void add(List& list, const Job& job);
  void go_on(std::uint32_t rank);
  Time begin(std::uint32_t rank, Job& job);
  void end(std::uint32_t rank, std::uint32_t job);
  void post(std::uint32_t rank, const Job& job);
  Time copy_time(std::uint32_t bytes) const;

  HostSide& around_;
  Motif& motif_;
  const Placement& placement_;
  Local local_;
  std::uint64_t first_place_;
  std::vector<State> states_;  // place
  Pool<Job> jobs_;
  std::uint64_t posted_bytes_ = 0;
};

}  // namespace photon::netsim
