// What one rank tells another at first contact: who it is, what both must agree on, and, beside it,
// four descriptors. Version and magic number stand first and never move.
//
// Invariant: a decoded Offer has a valid magic number, version and ranges; that its settings equal
// ours is a second question (check_settings), because a rank with other settings is answered.
// Owner: none (values and pure functions).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "base/config.hpp"
#include "base/result.hpp"
#include "wire/record.hpp"

namespace photon::transport::shm {

inline constexpr std::uint64_t kOfferMagic = 0x00'72'65'66'66'6f'68'70ULL;   // "phoffer"
inline constexpr std::uint64_t kCutOffMagic = 0x66'66'6f'74'75'63'68'70ULL;  // "phcutoff"
inline constexpr std::uint64_t kNudgeMagic = 0x00'65'67'64'75'6e'68'70ULL;   // "phnudge"
// Flags.
inline constexpr std::uint64_t kNeedsFence = 1;  // no heavy barriers here
inline constexpr std::uint64_t kLinesApart = 2;  // in the ring of this offer

// The descriptors that travel with an offer, in this order.
enum OfferFd : std::size_t { kRingFd, kPublicFd, kArenaFd, kWakeFd, kOfferFds };

using Nonce = std::array<std::byte, 16>;

struct Offer {
  std::uint64_t magic = kOfferMagic;
  std::uint32_t version = wire::kVersion;
  std::uint32_t ranks_count = 0;
  // Settings that must be equal.
  std::uint64_t ring_lines = 0;
  std::uint64_t bulk_bytes = 0;
  std::uint64_t bulk_chunk = 0;
  std::uint64_t ledger_slots = 0;
  std::uint64_t overflow_bytes = 0;
  std::uint64_t max_cid_size = 0;
  std::uint64_t max_regions = 0;
  std::uint64_t arena_bytes = 0;
  std::uint64_t page_bytes = 0;
  std::uint64_t max_lanes = 0;
  // Who offers.
  std::uint64_t slot = 0;          // of its lane: which gate, lane doorbell and doorbells
  std::uint64_t process_high = 0;  // ProcessToken
  std::uint64_t process_low = 0;
  std::uint64_t pid = 0;  // in its own namespace
  std::uint64_t flags = 0;
  std::uint64_t arena_address = 0;  // where it maps its ph_alloc memory
  std::uint64_t nonce_address = 0;  // these bytes stand there, for who can read its memory
  Nonce nonce{};
};
static_assert(sizeof(Offer) == 168 && std::is_trivially_copyable_v<Offer>);
static_assert(std::has_unique_object_representations_v<Offer>, "no padding travels");

// The settings of an offer; who offers is filled in by the transport.
Offer describe_settings(const base::Config& config, std::uint32_t ranks_count);

std::span<const std::byte> encode(const Offer& offer) noexcept;
// PH_ERR_BOOTSTRAP: another version. PH_ERR_PROTOCOL: no offer at all.
base::Result<Offer> decode(std::span<const std::byte> bytes);

// PH_ERR_BOOTSTRAP names the first setting that differs, and both values.
base::Result<> check_settings(const Offer& mine, const Offer& theirs);

// A nudge says "look at my ring" to a rank whose doorbell and gate are not known yet.
std::span<const std::byte> encode_nudge() noexcept;
bool is_nudge(std::span<const std::byte> bytes) noexcept;

// To who is cut off, and why.
struct CutOff {
  std::uint64_t magic = kCutOffMagic;
  std::array<char, 248> why{};  // ends with a zero
};
std::optional<CutOff> decode_cut_off(std::span<const std::byte> bytes) noexcept;

}  // namespace photon::transport::shm
