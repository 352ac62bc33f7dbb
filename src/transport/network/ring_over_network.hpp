// One rank's memory of a link: a sending ring that its transport empties, and a receiving
// ring that it fills at the same positions. To the engine both look like rings shared with the
// peer.
//
//   sending ring -- next_run() --> a network, in order --> begin_lines(), take_lines() --
//     receiving ring;  credits go the other way as CreditBody
//
// Both ranks have rings of one shape and the network keeps the order, so positions need not travel:
// each side counts. The sender is held to the credits that it got: what comes beyond them is
// refused before a byte of it is placed. Garbage in the sending ring is carried like anything else;
// then nothing more is, since where the next record begins is unknown.
// Untouched pages cost nothing.
// Owner: the transport, under its lock. The engine writes and reads the rings under its lane lock;
// what is published is safe to read from another thread [record].
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/config.hpp"
#include "base/result.hpp"
#include "transport/network/credit_body.hpp"
#include "transport/transport.hpp"
#include "wire/record.hpp"

namespace photon::transport::network {

// What 16 bits can say, less a record.
inline constexpr std::uint32_t kMostRunLines = 0xffff - wire::kMaxLines;

class RingOverNetwork {
 public:
  // PH_ERR_MEMORY. To oneself: one pair of rings is both halves.
  static base::Result<std::unique_ptr<RingOverNetwork>> make(const base::Config& config,
                                                             bool is_self);
  ~RingOverNetwork();
  RingOverNetwork(const RingOverNetwork&) = delete;
  RingOverNetwork& operator=(const RingOverNetwork&) = delete;

  // What the engine sees; stays at its address.
  Link& view() noexcept { return view_; }
  void set_answered() noexcept;

  // Records that were published and not yet taken, as parts of the rings' memory that stay as they
  // are until the peer has given them back.
  struct Run {
    std::uint32_t lines_count = 0;
    std::span<const std::byte> lines[2];  // the second one begins anew at the ring's begin
    std::span<const std::byte> bulk;      // of the one record that the run then is
  };
  bool has_run() noexcept;
  // No longer than `most_lines`, which is at least wire::kMaxLines, for a record is not cut.
  Run next_run(std::uint32_t most_lines = kMostRunLines) noexcept;
  // What we have given back to the peer, if that has changed since it was asked for.
  std::optional<CreditBody> changed_credits() noexcept;
  CreditBody given() const noexcept;
  bool owes_credits() const noexcept { return given() != told_; }
  // Fetches where the next bulk bytes go, both ways, as many as the last: the bulk rings are larger
  // than a core's cache, and each message finds other lines of them. For who has to wait anyhow.
  void warm() noexcept;

  // Lines begin to come: where their bulk bytes go. False: there is no such room.
  bool begin_lines(std::uint32_t lines_count, std::uint32_t bulk_bytes, std::byte*& bulk) noexcept;
  // Places the whole records among these of the lines that began; says how many lines they are.
  std::uint32_t take_lines(std::span<const std::byte> lines) noexcept;
  // Nonsense is what would be too high; the engine checks what it uses.
  void take_credits(const CreditBody& credits) noexcept;

 private:
  // Both halves' credits, then both rings, then both bulk rings: an idle link that said little has
  // used two pages.
  struct Shape {
    unsigned lines_log2 = 0;
    std::uint64_t bulk_bytes = 0;
    std::size_t halves = 2;

    std::size_t lines_bytes() const noexcept { return sizeof(Line) << lines_log2; }
    std::size_t lines_at() const noexcept { return halves * sizeof(Credits); }
    std::size_t bulk_at() const noexcept { return lines_at() + halves * lines_bytes(); }
    std::size_t size_bytes() const noexcept { return bulk_at() + halves * bulk_bytes; }
  };
  RingOverNetwork(const Shape& shape, std::byte* memory) noexcept;

  std::span<const std::byte> bytes_of(std::uint64_t position, std::uint64_t lines_count) const;
  void place(const std::byte* lines, std::uint32_t lines_count) noexcept;

  const Shape shape_;
  std::byte* const memory_;
  Link view_;
  Line* receiving_lines_;
  Credits* receiving_credits_;
  Credits* sending_credits_;
  std::byte* receiving_bulk_;
  sync::LineConsumer<Policy> reader_;  // of our own sending ring
  std::uint64_t bulk_sent_ = 0;        // positions in the bulk rings
  std::uint64_t bulk_received_ = 0;
  std::uint64_t warm_sent_ = 0;  // the same, as of the last warm()
  std::uint64_t warm_received_ = 0;
  std::uint64_t lines_received_ = 0;
  bool broken_ = false;  // garbage in the sending ring
  CreditBody told_;
};

}  // namespace photon::transport::network
