// The addresses at which a rank may be met, tried one after the other, round by round: what stands
// in the way of one says nothing of the next.
//
//   at an address -- next(): others are left --> at the next one
//                 -- next(): it was the last --> at the first again, and the round is over
//                 -- may_compute() --> it stays there, with the second round
//
// Order: as that rank prefers them, but the one by which the bootstrap met it comes first, and
// those that cannot be it come last: that this host has, too (a bridge of the same name and number
// on each), or of a kind of which this host has none. Last, and not never: two launchers on one
// machine are hosts to each other. Who answers has to prove to be that rank anyway. Owner: who
// dials. Threads: one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "boot/net_address.hpp"

namespace photon::boot {

class Tries {
 public:
  // By address; an errno, or one of those that no errno is for.
  using Troubles = std::array<std::int32_t, kMostAddresses>;
  static constexpr int kStranger = -1;  // who answers cannot prove to be that rank
  static constexpr int kSilent = -2;    // the connection was made, and nobody says anything
  static constexpr int kNoPort = -3;    // the kernel has none left for the connection

  struct Here {
    Addresses ours;
    bool is_near = false;        // that rank is on this host: it has our addresses
    std::optional<Address> met;  // of that rank, by which the bootstrap met it
    bool launchers_met = false;  // by the first address of each rank
  };

  Tries() = default;
  Tries(const Addresses& theirs, const Here& here);
  // A round of another rank's, which it tells.
  Tries(const Addresses& order, const Troubles& troubles) : order_(order), troubles_(troubles) {}

  const Address& now() const noexcept { return order_.list[at_]; }
  // Whether others are left in this round, which need not wait for long.
  bool has_more() const noexcept { return at_ + 1 < count(); }
  // The current address has failed with this trouble; go to the next. False: the round is over.
  bool next(int trouble) noexcept;
  // The trouble of the last round that gives the most hope for another round.
  int trouble() const noexcept;
  // Whether it is that rank, as far as can be known, that says nothing at an address: where the
  // address is known to be its, or whoever answers at each of them says nothing.
  bool may_compute() const noexcept;
  // Whether who is connected at the current address has to say something in time, or the next one
  // is tried: a stranger who says nothing shall not be all we try. A rank may compute: it is
  // waited for where it has no other address, or after a round in which it seemed to be there.
  bool is_hurried() const noexcept;
  const Addresses& order() const noexcept { return order_; }
  const Troubles& troubles() const noexcept { return troubles_; }
  // Each address with its trouble.
  std::string text() const;

 private:
  std::size_t count() const noexcept { return order_.all().size(); }

  Addresses order_;
  Troubles troubles_{};
  std::array<bool, kMostAddresses> is_sure_{};  // it leads to that rank's host
  std::size_t at_ = 0;
};

// How long the kernel may take to connect, or the other one to say its first word: where others are
// left two seconds, or less, so that a round does not take much longer than `otherwise_ns`.
std::int64_t patience_ns(const Tries& tries, std::int64_t otherwise_ns) noexcept;

// Until when: after that patience, and not after `latest_ns`, when all of it has lasted too long;
// but each attempt has a second, for whoever tries may have been away for long.
std::int64_t deadline_ns(std::int64_t now_ns, std::int64_t patience_ns,
                         std::int64_t latest_ns) noexcept;

// A trouble as the errno of an end; 0: there is none for it.
int trouble_errno(int trouble) noexcept;

// A trouble in words.
std::string trouble_text(int trouble);

// Begins to connect. 0, or the trouble.
int begin_connection(int socket, const Address& to) noexcept;

// Whether the kernel has connected it, or has given up.
bool is_connected(int socket) noexcept;

// Where nobody listens, a port of our own that is by chance the same connects to itself.
bool is_connected_to_itself(int socket) noexcept;

}  // namespace photon::boot
