// The root before its job begins: takes in photonruns of other hosts until they bring all ranks.
// Whoever connects is a guest until it has proved that it knows the job's key.
// Invariant: a guest costs a descriptor, some 300 bytes and at most ten seconds; nobody waits for
// one. Owner: the launcher process.
//
//   guest -hello-> challenged -its proof-> joined -hung up-> (none)
//   guest, challenged -nonsense, wrong key, silence, crowd-> refused, with a line
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "address.hpp"
#include "greeting.hpp"
#include "packet.hpp"
#include "vigil.hpp"

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

// Guests at a time: all hosts of a job may come at once, and none has more hosts than ranks.
inline constexpr std::size_t kMinGuests = 64;
inline constexpr std::size_t kMaxGuests = 1024;
constexpr std::size_t guests_limit(std::size_t ranks) {
  return std::clamp(ranks, kMinGuests, kMaxGuests);
}

class Muster {
 public:
  Muster(std::vector<Fd> listeners, std::string key, unsigned wanted_ranks, const Vigil& vigil);
  // Only those of the list, which `attendant` has started and is asked about.
  Muster(std::vector<Fd> listeners, std::string key, std::vector<Seat> seats, Attendant& attendant,
         const Vigil& vigil);

  // In the order in which they joined, or of the list. Throws std::runtime_error (the time is up:
  // who is missing) and Interrupted.
  std::vector<Joined> run(double wait_s);

 private:
  using Clock = Vigil::Clock;
  struct Guest {
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
  void accept_guests(int listener);
  void make_room();
  void serve(Guest& guest);
  void challenge(Guest& guest);
  void judge(Guest& guest);
  static Claim claim_of(const Guest& guest, Role role);
  bool say_to(Guest& guest, std::span<const std::byte> bytes);
  void seat(Guest& guest, std::string name);
  void refuse(Guest& guest, const std::string& why);
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
  const Vigil& vigil_;
  std::vector<Guest> guests_;  // the oldest first
  std::vector<Joined> joined_;
  Clock::time_point listens_again_{};  // when descriptors had run out
  unsigned refused_count_ = 0;
};

}  // namespace photonrun
