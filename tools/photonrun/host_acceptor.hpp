// The root before its job begins: takes in photonruns of other hosts until they bring all ranks.
// Whoever connects is a pending connection until it has proved that it knows the job's key.
// Invariant: a pending connection costs a descriptor, some 300 bytes and at most ten seconds;
// nobody waits for one. Owner: the launcher process.
//
//   pending connection -hello-> challenged -its proof-> joined -hung up-> (none)
//   pending connection, challenged -nonsense, wrong key, silence, crowd-> refused, with a line
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "address.hpp"
#include "host_handshake.hpp"
#include "packet.hpp"
#include "startup_wait.hpp"

namespace photonrun {

// Who has joined.
struct Joined {
  Fd socket;
  std::string name;  // "node2 (10.0.0.2)"
  unsigned ranks = 0;
  unsigned seat = 0;
  Proof mask{};  // hides the job's secret on the way to it
};

// A host of a list, which is to bring so many ranks.
struct Seat {
  std::string name;
  unsigned ranks = 0;
};

// Pending connections at a time: all hosts of a job may come at once, and none has more hosts than
// ranks.
inline constexpr std::size_t kMinPending = 64;
inline constexpr std::size_t kMaxPending = 1024;
constexpr std::size_t pending_limit(std::size_t ranks) {
  return std::clamp(ranks, kMinPending, kMaxPending);
}

class HostAcceptor {
 public:
  HostAcceptor(std::vector<Fd> listeners, std::string key, unsigned wanted_ranks,
               const StartupWait& startup_wait);
  // Only those of the list, which `attendant` has started and is asked about.
  HostAcceptor(std::vector<Fd> listeners, std::string key, std::vector<Seat> seats,
               Attendant& attendant, const StartupWait& startup_wait);

  // In the order in which they joined, or of the list. Throws std::runtime_error (the time is up:
  // who is missing) and Interrupted.
  std::vector<Joined> run(double wait_s);

 private:
  using Clock = StartupWait::Clock;
  struct PendingConnection {
    Fd socket;
    std::string from;
    Clock::time_point deadline;
    bool is_challenged = false;
    Bytes heard;
    Hello hello{};
    Nonce nonce{};
    bool is_over = false;  // joined or refused
  };

  bool turn(Clock::time_point until);
  void accept_pending(int listener);
  void make_room();
  void serve(PendingConnection& pending);
  void challenge(PendingConnection& pending);
  void judge(PendingConnection& pending);
  static Claim claim_of(const PendingConnection& pending, Role role);
  bool say_to(PendingConnection& pending, std::span<const std::byte> bytes);
  void seat(PendingConnection& pending, std::string name);
  void refuse(PendingConnection& pending, const std::string& why);
  bool may_sit(const Hello& hello) const;
  void look_after(Joined& joined);
  unsigned missing() const;
  std::string absence(double waited_s) const;
  std::string places() const;

  std::vector<Fd> listeners_;
  std::string key_;
  unsigned wanted_;
  std::vector<Seat> seats_;  // none: whoever comes
  Attendant* attendant_ = nullptr;
  const StartupWait& startup_wait_;
  std::vector<PendingConnection> pending_;  // the oldest first
  std::vector<Joined> joined_;
  Clock::time_point listens_again_{};  // when descriptors had run out
  unsigned refused_count_ = 0;
};

}  // namespace photonrun
