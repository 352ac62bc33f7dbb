#include "transport/shm/shm_offer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "transport/shm/shm_segment.hpp"

namespace photon::transport::shm {

namespace {

static_assert(std::endian::native == std::endian::little, "the wire format is little-endian");

struct Setting {
  const char* name;
  std::uint64_t Offer::*value;
};

constexpr Setting kSettings[] = {
    {"ring_lines", &Offer::ring_lines},         {"bulk_bytes", &Offer::bulk_bytes},
    {"bulk_chunk", &Offer::bulk_chunk},         {"ledger_slots", &Offer::ledger_slots},
    {"max_cid_size", &Offer::max_cid_size},     {"max_regions", &Offer::max_regions},
    {"arena_bytes", &Offer::arena_bytes},       {"page size", &Offer::page_bytes},
    {"overflow_bytes", &Offer::overflow_bytes}, {"max_lanes", &Offer::max_lanes},
};

constexpr std::uint64_t kNudge[1] = {kNudgeMagic};

base::Error malformed(const std::string& why) {
  return {.status = PH_ERR_PROTOCOL, .what = "malformed shared-memory offer: " + why};
}

base::Error differs(const std::string& what, std::uint64_t mine, std::uint64_t theirs,
                    const char* advice = "set the same on all ranks") {
  return {.status = PH_ERR_BOOTSTRAP,
          .what = "ranks disagree on " + what + ": " + std::to_string(mine) + " here, " +
                  std::to_string(theirs) + " at the peer; " + advice};
}

base::Result<> check_ranges(const Offer& offer) {
  constexpr auto kMaxPid = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
  constexpr std::uint64_t kMaxAddress = std::numeric_limits<std::uint64_t>::max();
  if (offer.pid == 0 || offer.pid > kMaxPid)
    return malformed("pid " + std::to_string(offer.pid) + " is out of range");
  if ((offer.flags & ~(kNeedsFence | kLinesApart)) != 0)
    return malformed("unknown flags " + std::to_string(offer.flags));
  if (offer.slot >= offer.max_lanes)
    return malformed("slot " + std::to_string(offer.slot) + " of " +
                     std::to_string(offer.max_lanes) + " lanes");
  if (offer.arena_address > kMaxAddress - offer.arena_bytes)
    return malformed("the arena's address leaves the address space");
  if (offer.arena_address % page_bytes() != 0)
    return malformed("the arena begins at " + std::to_string(offer.arena_address) +
                     ", which no mapping does");
  return {};
}

// The first message of another transport's rank begins with "p", its name, "card".
base::Error strange_offer(std::span<const std::byte> bytes) {
  const std::string_view begin(reinterpret_cast<const char*>(bytes.data()), sizeof Offer::magic);
  const std::string_view name = begin.substr(1, 3);
  const auto is_letter = [](char one) { return one >= 'a' && one <= 'z'; };
  if (!begin.starts_with('p') || !begin.ends_with("card") || !std::ranges::all_of(name, is_letter))
    return malformed("wrong magic number");
  return {.status = PH_ERR_BOOTSTRAP,
          .what = "it is reached by " + std::string(name) +
                  ", and this rank by shared memory; settings transport and network must be the "
                  "same on all ranks (where shared memory is refused to some of them, set "
                  "PHOTON_TRANSPORT=tcp)"};
}

}  // namespace

Offer describe_settings(const base::Config& config, std::uint32_t ranks_count) {
  Offer offer;
  offer.ranks_count = ranks_count;
  offer.ring_lines = config.ring_lines;
  offer.bulk_bytes = config.bulk_bytes;
  offer.bulk_chunk = config.bulk_chunk;
  offer.ledger_slots = config.ledger_slots;
  offer.overflow_bytes = config.overflow_bytes;
  offer.max_cid_size = config.max_cid_size;
  offer.max_regions = config.max_regions;
  offer.arena_bytes = config.arena_bytes;
  offer.page_bytes = page_bytes();
  offer.max_lanes = config.max_lanes;
  return offer;
}

std::span<const std::byte> encode(const Offer& offer) noexcept {
  return std::as_bytes(std::span{&offer, 1});
}

base::Result<Offer> decode(std::span<const std::byte> bytes) {
  Offer offer;
  constexpr std::size_t kFixedBytes = offsetof(Offer, version) + sizeof offer.version;
  if (bytes.size() < kFixedBytes)
    return malformed(std::to_string(bytes.size()) + " bytes are too few");
  std::memcpy(static_cast<void*>(&offer), bytes.data(), kFixedBytes);
  if (offer.magic != kOfferMagic) return strange_offer(bytes);
  if (offer.version != wire::kVersion)
    return differs("the wire format's version", wire::kVersion, offer.version,
                   "run all ranks with one version of the library");
  if (bytes.size() != sizeof offer)
    return malformed(std::to_string(bytes.size()) + " bytes, expected " +
                     std::to_string(sizeof offer));
  std::memcpy(static_cast<void*>(&offer), bytes.data(), sizeof offer);
  if (auto checked = check_ranges(offer); !checked) return std::move(checked.error());
  return offer;
}

base::Result<> check_settings(const Offer& mine, const Offer& theirs) {
  for (const auto& [name, value] : kSettings) {
    if (mine.*value != theirs.*value) return differs(name, mine.*value, theirs.*value);
  }
  if (mine.ranks_count != theirs.ranks_count)
    return differs("the job's size", mine.ranks_count, theirs.ranks_count);
  return {};
}

std::span<const std::byte> encode_nudge() noexcept { return std::as_bytes(std::span{kNudge}); }

bool is_nudge(std::span<const std::byte> bytes) noexcept {
  return bytes.size() == sizeof kNudge && std::memcmp(bytes.data(), kNudge, sizeof kNudge) == 0;
}

std::optional<CutOff> decode_cut_off(std::span<const std::byte> bytes) noexcept {
  CutOff said;
  if (bytes.size() != sizeof said) return std::nullopt;
  std::memcpy(&said, bytes.data(), sizeof said);
  if (said.magic != kCutOffMagic || said.why.back() != 0) return std::nullopt;
  return said;
}

}  // namespace photon::transport::shm
