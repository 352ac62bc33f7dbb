// The root before its job begins: takes in photonruns of other hosts until they bring all ranks.
// Whoever connects is a guest until it has proved that it knows the job's key.
// Invariant: a guest costs a descriptor, some 300 bytes and at most ten seconds; nobody waits for
// one. Owner: the launcher process.
//
//   guest -hello-> challenged -its proof-> joined -hung up-> (none)
//   guest, challenged -nonsense, wrong key, silence, crowd-> refused, with a line
#pragma once

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
  Proof mask{};  // hides the job's secret on the way to it
};

class Muster {
 public:
  Muster(Fd listener, std::string key, unsigned wanted_ranks);

  // In the order in which they joined. Throws std::runtime_error (the time is up: who is missing)
  // and Interrupted.
  std::vector<Joined> run(const Vigil& vigil, double wait_s);

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

  bool turn(const Vigil& vigil, Clock::time_point until);
  void accept_guests();
  void make_room();
  void serve(Guest& guest);
  void challenge(Guest& guest);
  void judge(Guest& guest);
  bool say_to(Guest& guest, std::span<const std::byte> bytes);
  void refuse(Guest& guest, const std::string& why);
  void look_after(Joined& joined);
  unsigned missing() const;
  std::string absence(double waited_s) const;

  Fd listener_;
  std::string key_;
  unsigned wanted_;
  std::vector<Guest> guests_;  // the oldest first
  std::vector<Joined> joined_;
  Clock::time_point listens_again_{};  // when descriptors had run out
  unsigned refused_count_ = 0;
};

}  // namespace photonrun
