// The sending direction of a connection: what waits, and the batch that is on its way.
//
//   waiting: records in the sending ring, credits that changed, items in their order
//     -- batch: heads here, everything else where it lies --> sendmsg(), as often as it takes -->
//     sent -- next batch
//
// Nothing is copied but heads and lines that are few enough that one short copy beats a list: lines
// stay as they are until the peer gives them back, payload until its fragment is over. Payload is
// memory of a caller's, which may have been unmapped: the kernel alone reads it, and says so.
// Lines go before items, so that a refusal never overtakes what was published before the key was
// taken back.
// Invariant: waiting items are at most kMostFragments of our own, as many answers to the peer's,
// and the bye; so nothing here grows with traffic, and answering needs no room that could be
// missing. Owner: TcpTransport, under its lock.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/ring_queue.hpp"
#include "transport/network/ring_over_network.hpp"
#include "transport/tcp/tcp_frame.hpp"

namespace photon::transport::tcp {

class Outlet {
 public:
  static constexpr std::size_t kSmallBytes = 8192;  // cost less copied together than as parts
  struct Item {
    FrameHead head;
    FragmentBody body;                   // of what we ask for; of `data`: what it answers
    const std::byte* payload = nullptr;  // `write` and `data`
    std::uint64_t payload_bytes = 0;
    bool is_alone = false;  // no other fragment of ours is under way: its time counts, not its rate
  };
  std::size_t waiting() const noexcept { return items_.size(); }

  enum class Flushed : std::uint8_t {
    all,      // nothing waits
    blocked,  // the socket takes no more
    broken,   // nor ever will; errno says why
  };

  // May wait; what its payload is read from stays until the fragment is over.
  void add(const Item& item) { items_.push(item); }
  // Where what is small is put together: best in memory that was just used.
  using Scratch = std::span<std::byte, kSmallBytes>;
  Flushed flush(int socket, network::RingOverNetwork& link, std::span<const RegionEntry> regions,
                Scratch scratch);
  bool is_idle(network::RingOverNetwork& link) noexcept;
  // Nothing waits but credits, if those do.
  bool has_no_record(network::RingOverNetwork& link) const noexcept {
    return !has_batch() && items_.empty() && !link.has_run();
  }
  // Whether bytes of our write `token` are still to be sent, so that no answer can be true.
  bool still_sends(std::uint64_t token) const noexcept;
  // Keys of ours were revoked: payload under such is not read any more. PH_ERR_MEMORY: there was no
  // room to keep what has to follow what was sent.
  base::Result<> let_go(std::span<const RegionEntry> regions) noexcept;

 private:
  // A `data` payload of the batch: its bytes may have to be saved from a key that is revoked.
  struct Served {
    std::size_t start = 0;
    std::size_t part = 0;
    FragmentBody body;
  };

  // Of a frame: as one part.
  struct Start {
    FrameHead head;
    FragmentBody body;
  };
  static_assert(sizeof(Start) == sizeof(FrameHead) + sizeof(FragmentBody));

  static constexpr std::size_t kMostParts = 64;  // of a batch; a run takes 4, an item 3
  static constexpr std::size_t kMostStarts = 32;
  // Up to 64 KiB leave the kernel as one packet, which the peer sees when all of it was copied. Of
  // a payload about so long, the last part goes alone: meanwhile the peer takes the first.
  static constexpr std::size_t kTailBytes = 16 << 10;
  static constexpr std::size_t kLeastCutBytes = 48 << 10;
  static constexpr std::size_t kMostCutBytes = 80 << 10;

  bool has_batch() const noexcept { return next_ != parts_count_; }
  void build(network::RingOverNetwork& link, std::span<const RegionEntry> regions);
  bool add_runs(network::RingOverNetwork& link);
  void add_credits(network::RingOverNetwork& link) noexcept;
  static void refuse_if_revoked(Item& item, std::span<const RegionEntry> regions) noexcept;
  void add_item(const Item& item);
  bool has_space() const noexcept {
    return parts_count_ + 4 <= kMostParts && starts_count_ + 2 <= kMostStarts;
  }
  void add_start(const FrameHead& head) noexcept;
  void add_part(const void* bytes, std::size_t size_bytes) noexcept;
  ssize_t push(int socket, Scratch scratch) noexcept;
  std::size_t gather(Scratch scratch, std::span<iovec, kMostParts> parts) const noexcept;
  std::size_t without_tail(std::span<iovec, kMostParts> parts) const noexcept;
  void advance(std::size_t bytes) noexcept;
  bool spoil() noexcept;
  bool fill_up(std::size_t start) noexcept;

  base::RingQueue<Item> items_;
  std::array<iovec, kMostParts> parts_{};
  std::array<Start, kMostStarts> starts_{};
  std::array<std::size_t, kMostStarts> payload_parts_{};  // of the item that starts so
  CreditBody credits_;
  std::size_t parts_count_ = 0;
  std::size_t next_ = 0;  // first part that is not all sent
  std::size_t starts_count_ = 0;
  std::size_t bytes_left_ = 0;  // of the batch
  bool is_cut_ = false;         // the batch has a tail
  std::uint64_t payloads_ = 0;  // of the parts, by a bit each: memory of a caller's
  std::vector<Served> served_;
  std::vector<std::unique_ptr<std::byte[]>> saved_;  // of this batch
};

}  // namespace photon::transport::tcp
