// The messages of collectives (docs/collectives.md, "On the wire"). The first three words of each
// name a step of an operation at its receiver. They have the slot in which the receiver keeps the
// team, so that it finds the team by indexing, and the team's number, by which it tells a freed
// team from its successor in the slot.
//
//   word 0: op 8 bits, slot 24, tag 32     word 1: number 32, channel 32
//   word 2: sequence 32, digest 32
//
// Owner: none; plain values.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace photon::service::coll {

enum class Op : std::uint8_t {
  payload = 1,   // the bytes are the message's payload
  ready = 2,     // size, address, key: the receiver reads the bytes itself, and then says `taken`
  taken = 3,     // status in place of the digest: the bytes of a `ready` are not needed any more
  credit = 4,    // word 1: so many bytes of the receiver's payloads wait here no more
  failed = 5,    // payload: Blame; the operation has failed
  broken = 6,    // payload: Blame; the whole team has failed
  differs = 7,   // payload: Blame; your message differs from my call, which is its first part
  meet = 8,      // words: hash, proposal, slot (ph_team_of)
  met = 9,       // words: hash, number, place, status; payload: slots of members from that place on
  agree = 10,    // of an agreement (agreeing.hpp), whose Word stands in place of the channel
  lines = 11,    // word: where the sender's page is (tag 0), or whether it sees all pages (tag 1)
  lacks = 12,    // payload: Blame of a member that has left; will you still begin this operation?
  never = 13,    // payload: Blame; the answer to `lacks` where it is no
  absent = 14,   // status in place of the digest: the slot named is the sender's, and does not hold
                 // that team any more. PH_ERR_STATE: it was freed after so many calls as the
                 // sequence says, and no call after them will be made
  choices = 20,  // words: a hash of how the sender chooses algorithms, once for each team
  words = 64,    // 64 + size: a payload of at most 32 bytes, which stands in words 3 to 6
};
inline constexpr std::uint32_t kMostWordBytes = 32;
inline constexpr std::uint32_t kMostSlots = 1U << 24;

// Names a message at its receiver. Channel 0 has the one-shot operations.
struct Name {
  std::uint32_t slot = 0;
  std::uint32_t number = 0;
  std::uint32_t channel = 0;
  std::uint32_t sequence = 0;
  std::uint32_t tag = 0;
};

struct Head {
  std::uint8_t op = 0;
  Name name;
  std::uint32_t digest = 0;
};

using HeadWords = std::array<std::uint64_t, 3>;

constexpr HeadWords encode(const Head& head) noexcept {
  const Name& name = head.name;
  return {std::uint64_t{head.op} | std::uint64_t{name.slot} << 8 | std::uint64_t{name.tag} << 32,
          std::uint64_t{name.number} | std::uint64_t{name.channel} << 32,
          std::uint64_t{name.sequence} | std::uint64_t{head.digest} << 32};
}

constexpr Head decode(const HeadWords& words) noexcept {
  Head head;
  head.op = static_cast<std::uint8_t>(words[0]);
  head.name.slot = static_cast<std::uint32_t>(words[0] >> 8) & (kMostSlots - 1);
  head.name.tag = static_cast<std::uint32_t>(words[0] >> 32);
  head.name.number = static_cast<std::uint32_t>(words[1]);
  head.name.channel = static_cast<std::uint32_t>(words[1] >> 32);
  head.name.sequence = static_cast<std::uint32_t>(words[2]);
  head.digest = static_cast<std::uint32_t>(words[2] >> 32);
  return head;
}

constexpr std::uint64_t pair_of(std::uint32_t low, std::uint32_t high) noexcept {
  return std::uint64_t{low} | std::uint64_t{high} << 32;
}

// The tag of messages that are sent only for their digest (coll_check, providers).
inline constexpr std::uint32_t kCheckTag = 0xffff'ffff;
// Kinds that the library uses beside those of ph_coll_kind: a split, and the choice of algorithms.
inline constexpr std::uint32_t kSplitKind = 0x100;
inline constexpr std::uint32_t kChoicesKind = 0x101;
// This kind stands in place of a call that its member has forgotten.
inline constexpr std::uint32_t kForgottenKind = 0x102;
// This kind stands in place of a call that will not be made: the team, or the prepared operation
// named by `channel`, was freed after `number` calls.
inline constexpr std::uint32_t kFreedKind = 0x103;
// Stands in the flags of a Described where the setting coll_check is on.
inline constexpr std::uint32_t kCheckedFlag = 0x8000'0000;
// A provider does it.
inline constexpr std::uint32_t kProvidedFlag = 0x4000'0000;

// A member's call in numbers, all of which but `member` go into the digest. The last four are 0
// unless coll_check is on.
struct Described {
  std::uint32_t kind = 0;
  std::int32_t type = 0;
  std::int32_t op = 0;  // -1: a function of the user's
  std::uint32_t root = 0;
  std::uint64_t count = 0;  // 0 for v-kinds
  std::uint32_t flags = 0;
  std::uint32_t member = 0;    // whose call it is; not part of the digest
  std::uint32_t counts = 0;    // a hash of those counts that must be the same at all members
  std::uint32_t function = 0;  // a hash of its elements' size, and of whether it commutes
  std::uint32_t channel = 0;   // the number of the prepared operation
  std::uint32_t number = 0;    // counts the calls in the channel
  friend bool operator==(const Described&, const Described&) = default;
};

// Why an operation, or a team, has failed. Messages carry it as it lies in memory.
struct Blame {
  std::int32_t status = 0;
  std::uint32_t member = 0;  // the member that is lost, or has failed
  Described own;             // the call that has failed; where two differ, the one,
  Described other;           // and the other; its kind is 0 unless two differ
};

static_assert(sizeof(Described) == 48 && sizeof(Blame) == 104);

std::uint32_t digest_of(const Described& what) noexcept;
std::uint32_t digest_of(std::span<const std::uint64_t> words) noexcept;

}  // namespace photon::service::coll
