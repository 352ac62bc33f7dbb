// Sends payloads, within the grant of each rank, and notes, which always go.
//
//   grant of a rank: coll_early_bytes -- a payload goes --> less -- its credit comes --> more
//
// Invariant: payloads of ours that wait at a peer, or may, never take more than its grant there.
// A note costs nothing of it, for the operation that it belongs to is not over until it is
// answered. Owner: Collectives, under the lane's lock.
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

  // The part of a grant that a payload takes.
  static constexpr std::uint64_t charge_of(std::uint64_t size_bytes) noexcept {
    return 64 + ((size_bytes + 63) & ~std::uint64_t{63});
  }

  // Whether a payload may go to that rank: then its grant is less by the charge.
  bool take_grant(Rank to, std::uint64_t size_bytes) noexcept {
    const std::uint64_t charge = charge_of(size_bytes);
    if (size_bytes > wire::kMaxPackedBytes || peers_[to].left < charge) return false;
    peers_[to].left -= static_cast<std::uint32_t>(charge);
    return true;
  }
  // PH_OK, or how the peer is lost. All throw bad_alloc only.
  ph_status payload(Rank to, const Head& head, std::span<const std::byte> bytes);
  ph_status note(Rank to, const Head& head, const ph_target& at, std::uint64_t size_bytes,
                 std::uint32_t own_slot);
  ph_status answer(Rank to, const Name& name, ph_status status);
  // `own_slot`: where the answer goes, if there is one.
  ph_status blame(Rank to, Op op, const Name& name, const Blame& what, std::uint32_t own_slot = 0);
  // Of a team that is lost here, in a slot of ours.
  ph_status absent(Rank to, const Name& own, ph_status status);
  ph_status words(Rank to, std::span<const std::uint64_t> words,
                  std::span<const std::byte> payload = {});

  // A payload of that rank waits here no more. Its credit goes with others.
  void spent(Rank from, std::uint64_t size_bytes);
  // False: it gives back more than it has got.
  bool credited(Rank from, std::uint64_t bytes) noexcept;
  void lost(Rank rank) noexcept { peers_[rank] = {}; }

 private:
  struct Peer {
    std::uint32_t left = 0;  // of our grant there
    std::uint32_t owed = 0;  // to be credited to it
  };
  template <class... Words>
  ph_status say(Rank to, Words... words);

  Port& port_;
  const std::uint32_t grant_bytes_;
  std::vector<Peer> peers_;
};

}  // namespace photon::service::coll
