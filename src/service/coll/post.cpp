#include "service/coll/post.hpp"

#include <algorithm>
#include <cstring>

namespace photon::service::coll {

Post::Post(Port& port)
    : port_(port),
      grant_bytes_(static_cast<std::uint32_t>(port.config().coll_early_bytes)),
      peers_(port.size(), Peer{grant_bytes_, 0}) {}

// In a line if there is one; else it queues.
template <class... Words>
ph_status Post::say(Rank to, Words... words) {
  const ph_status status = port_.say_words(to, words...);
  if (status != PH_AGAIN) return status;
  const std::uint64_t all[] = {static_cast<std::uint64_t>(words)...};
  return this->words(to, all);
}

ph_status Post::words(Rank to, std::span<const std::uint64_t> words,
                      std::span<const std::byte> payload) {
  Saying what;
  what.to = to;
  what.header = std::as_bytes(words);
  what.payload = payload;
  what.must_go = true;
  return port_.say(what);
}

ph_status Post::payload(Rank to, const Head& head, std::span<const std::byte> bytes) {
  Head named = head;
  if (bytes.size() > kMostWordBytes) {
    named.op = static_cast<std::uint8_t>(Op::payload);
    return words(to, encode(named), bytes);
  }
  named.op = static_cast<std::uint8_t>(static_cast<std::size_t>(Op::words) + bytes.size());
  const HeadWords h = encode(named);
  std::uint64_t w[kMostWordBytes / sizeof(std::uint64_t)] = {};
  if (!bytes.empty()) std::memcpy(w, bytes.data(), bytes.size());
  switch ((bytes.size() + sizeof w[0] - 1) / sizeof w[0]) {
    case 0: return say(to, h[0], h[1], h[2]);
    case 1: return say(to, h[0], h[1], h[2], w[0]);
    case 2: return say(to, h[0], h[1], h[2], w[0], w[1]);
    case 3: return say(to, h[0], h[1], h[2], w[0], w[1], w[2]);
    default: return say(to, h[0], h[1], h[2], w[0], w[1], w[2], w[3]);
  }
}

ph_status Post::note(Rank to, const Head& head, const ph_target& at, std::uint64_t size_bytes,
                     std::uint32_t own_slot) {
  Head named = head;
  named.op = static_cast<std::uint8_t>(Op::ready);
  const HeadWords h = encode(named);
  return say(to, h[0], h[1], h[2], size_bytes, at.address, at.key, std::uint64_t{own_slot});
}

ph_status Post::answer(Rank to, const Name& name, ph_status status) {
  const HeadWords h = encode({static_cast<std::uint8_t>(Op::taken), name,
                              static_cast<std::uint32_t>(static_cast<std::int32_t>(status))});
  return say(to, h[0], h[1], h[2]);
}

ph_status Post::absent(Rank to, const Name& own, ph_status status) {
  const HeadWords h = encode({static_cast<std::uint8_t>(Op::absent), own,
                              static_cast<std::uint32_t>(static_cast<std::int32_t>(status))});
  return say(to, h[0], h[1], h[2]);
}

ph_status Post::blame(Rank to, Op op, const Name& name, const Blame& what, std::uint32_t own_slot) {
  return words(to, encode({static_cast<std::uint8_t>(op), name, own_slot}),
               std::as_bytes(std::span(&what, 1)));
}

// A quarter of a grant at once: few messages, and a sender that never stands still for them.
void Post::spent(Rank from, std::uint64_t size_bytes) {
  Peer& peer = peers_[from];
  peer.owed += static_cast<std::uint32_t>(charge_of(size_bytes));
  if (peer.owed < grant_bytes_ / 4) return;
  const std::uint64_t owed = peer.owed;
  peer.owed = 0;
  static_cast<void>(
      say(from, std::uint64_t{static_cast<std::uint8_t>(Op::credit)}, owed, std::uint64_t{0}));
}

bool Post::credited(Rank from, std::uint64_t bytes) noexcept {
  Peer& peer = peers_[from];
  if (bytes > grant_bytes_ - peer.left) return false;
  peer.left += static_cast<std::uint32_t>(bytes);
  return true;
}

}  // namespace photon::service::coll
