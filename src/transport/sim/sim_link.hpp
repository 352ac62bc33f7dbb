// One rank's memory of a link: a sending ring that the network empties, and a receiving ring that
// it fills at the same positions. To the engine both look like rings shared with the peer.
//
//   sending ring -- next_record() --> Packet -- network --> deliver() -- receiving ring
//   credits:  receiving rank's words -- changed_credits() --> Packet --> deliver() -- sender's
//   words
//
// Invariant: both ranks' rings have the same geometry and the sender is held to the credits it got,
// so what arrives always fits; a record that does not fit is a bug of the engine and aborts.
// Garbage in the sending ring is carried across like anything else; then nothing more is, since
// where the next record begins is unknown.
// Owner: SimTransport. Threads: one at a time (lane lock).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

#include "transport/sim/sim_packet.hpp"
#include "transport/transport.hpp"

namespace photon::transport::sim {

struct Geometry {
  unsigned lines_log2 = 0;
  std::uint64_t bulk_bytes = 0;
};

class SimLink {
 public:
  SimLink(Rank me, const Geometry& geometry);

  // What the engine sees; stays at its address.
  Link& view() noexcept { return view_; }
  bool answered() const noexcept { return view_.rx_lines != nullptr; }
  void set_answered() noexcept;

  // Profile mapped: what the two ranks share beside the rings.
  struct Shared {
    Intent* mine;
    const Intent* theirs;
    const RegionEntry* regions;  // the peer's
    bool fenced;                 // no heavy barrier: both sides fence
    Overflow overflow;           // the peer's to us
    Holds* held_of_them;         // what we have mapped, and what the peer has
    const Holds* held_of_us;
  };
  void share(const Shared& shared) noexcept;

  // The next record that was published and not yet carried.
  std::optional<Packet> next_record();
  // Credit words, if they changed since the last call; or if more was taken of the peer's overflow,
  // which it sees by itself, but may sleep.
  std::optional<Packet> changed_credits();

  // What we gave back to the peer, and what the peer is known to have given back to us.
  CreditValues given() const noexcept;
  CreditValues told() const noexcept;

  // A record or credits from the peer.
  void deliver(const Packet& packet) noexcept;

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  struct Half {
    explicit Half(const Geometry& geometry);
    std::unique_ptr<Line[]> lines;
    std::unique_ptr<Credits> credits;
    std::unique_ptr<std::byte[], Free> memory;
    std::byte* bulk;  // in it, at a whole line
  };

  static CreditValues values_of(const Credits& words) noexcept;
  Packet image(std::uint64_t lines_count) const;
  bool take_bulk(Packet& packet);
  void deliver_record(const Packet& packet) noexcept;
  void check_room(const Packet& packet) const noexcept;

  const Rank me_;
  const Geometry geometry_;
  Half sending_;
  Half receiving_;
  Link view_;
  sync::LineConsumer<Policy> reader_;  // of our own sending ring
  std::uint64_t bulk_taken_ = 0;       // position in our own bulk ring
  bool broken_ = false;                // garbage in the sending ring
  CreditValues sent_credits_;
  std::uint64_t told_taken_ = 0;  // of the peer's overflow
};

}  // namespace photon::transport::sim
