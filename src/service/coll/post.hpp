// Sends the messages of collectives: payloads, as far as the grant of the receiver allows, and
// notes, which may always be sent (docs/collectives.md, "Grants").
//
//   our grant at a peer: coll_early_bytes -- a payload goes --> less -- credit for it comes -->
//   more a peer's grant here: coll_early_bytes -- a payload comes --> less -- we credit it --> more
//
// Invariant: the payloads of ours that wait at a peer, or may come to wait, never take more than
// our grant there. A peer that sends more than its grant here is noticed. A note takes nothing of a
// grant, for the operation that it belongs to is not over until it is answered. Owner: Collectives,
// under the lane's lock.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "service/coll/words.hpp"
#include "service/service.hpp"

namespace photon::service::coll {

class Post {
 public:
  explicit Post(Port& port);

  // How much of a grant a payload takes.
  static constexpr std::uint64_t charge_of(std::uint64_t size_bytes) noexcept {
    return 64 + ((size_bytes + 63) & ~std::uint64_t{63});
  }

  // Whether a payload may go to that rank. If so its charge is taken from our grant there.
  bool take_grant(Rank to, std::uint64_t size_bytes) noexcept {
    const std::uint64_t charge = charge_of(size_bytes);
    if (size_bytes > wire::kMaxPackedBytes || peers_[to].left < charge) return false;
    peers_[to].left -= static_cast<std::uint32_t>(charge);
    return true;
  }
  // Both return PH_OK, or how the peer is lost. note() may throw bad_alloc. payload(), which is
  // called after take_grant(), returns PH_ERR_MEMORY instead.
  ph_status payload(Rank to, const Head& head, std::span<const std::byte> bytes);
  ph_status note(Rank to, const Head& head, const ph_target& at, std::uint64_t size_bytes,
                 std::uint32_t own_slot);
  // The next three throw nothing. Their receiver waits for them; so where memory is lacking to send
  // one, the receiver is cut off, and notices that.
  ph_status answer(Rank to, const Name& name, ph_status status);
  // `own_slot` says in which slot of ours the receiver finds the team, if it is to answer.
  ph_status blame(Rank to, Op op, const Name& name, const Blame& what, std::uint32_t own_slot = 0);
  // Says that a slot of ours does not hold the team that the receiver means.
  ph_status absent(Rank to, const Name& own, ph_status status);
  ph_status words(Rank to, std::span<const std::uint64_t> words,
                  std::span<const std::byte> payload = {});

  // The next two count a payload or note that has come. False: that rank has sent more than it may.
  bool came(Rank from, std::uint64_t size_bytes) noexcept {
    return (peers_[from].came += static_cast<std::uint32_t>(charge_of(size_bytes))) <= grant_bytes_;
  }
  bool note_came(Rank from) noexcept { return ++peers_[from].notes <= kMostNotes; }
  // A payload of that rank waits here no more. Credit for it is sent together with that for others.
  // Where memory is lacking it is sent with the next credit, or by pay_late().
  void spent(Rank from, std::uint64_t size_bytes);
  void pay_late();
  // Credit has come. False: that rank gives back more than it was sent.
  bool credited(Rank from, std::uint64_t bytes) noexcept;
  void lost(Rank rank) noexcept { peers_[rank] = {}; }

 private:
  // A peer may have this many notes under way here: an operation in segments has thousands.
  static constexpr std::uint32_t kMostNotes = 1 << 20;

  struct Peer {
    std::uint32_t left = 0;   // what is left of our grant there
    std::uint32_t owed = 0;   // credit that we have yet to send to it
    std::uint32_t came = 0;   // charges of its payloads that were not credited yet
    std::uint32_t notes = 0;  // its notes that were not answered yet
  };
  template <class... Words>
  ph_status say(Rank to, Words... words);
  void pay(Rank to);
  ph_status say_payload(Rank to, const Head& head, std::span<const std::byte> bytes);
  template <class Say>
  ph_status surely(Rank to, Say say_it) noexcept;

  Port& port_;
  const std::uint32_t grant_bytes_;
  std::vector<Peer> peers_;
  bool is_late_ = false;  // credit for some peer could not be sent for lack of memory
};

}  // namespace photon::service::coll
