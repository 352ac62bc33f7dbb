// The messages of collectives (docs/collectives.md, "On the wire"). The first three words of each
// name a step of an operation at its receiver, which finds it by indexing: the receiver's own slot
// of the team, and the team's number, which tells a freed team from its successor in the slot.
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
  ready = 2,     // size, address, key: the receiver reads them itself, and says
  taken = 3,     // status in place of the digest: the sender's memory is its own again
  credit = 4,    // word 1: so many bytes of what waited here are gone
  failed = 5,    // payload: Blame
  broken = 6,    // payload: Blame; of the whole team
  differs = 7,   // payload: Blame, of whose first part the receiver of a message speaks
  meet = 8,      // words: hash, proposal, slot (ph_team_of)
  met = 9,       // words: hash, number, place, status; payload: slots of members from that place on
  agree = 10,    // of an agreement (agreeing.hpp); a word of it in place of the channel
  lines = 11,    // word: where this member's lines are (tag 0), or whether it sees all (tag 1)
  lacks = 12,    // payload: Blame, of one that has left; do you still begin this operation?
  never = 13,    // payload: Blame; no
  absent = 14,   // status in place of the digest: the team of that slot, which is its sender's, was
                 // lost there
  choices = 20,  // words: a hash of how this member chooses algorithms, once for each team
  words = 64,    // and size: a payload of at most 32 bytes stands in words 3 to 6
};
inline constexpr std::uint32_t kMostWordBytes = 32;
inline constexpr std::uint32_t kMostSlots = 1U << 24;

// Names a message at its receiver; channel 0: one-shot operations.
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

// The tag of what is sent for the sake of its digest alone (coll_check, providers).
inline constexpr std::uint32_t kCheckTag = 0xffff'ffff;
// Kinds that are none of the user's: a split, and the choice of algorithms.
inline constexpr std::uint32_t kSplitKind = 0x100;
inline constexpr std::uint32_t kChoicesKind = 0x101;
// Beside the user's flags: the setting coll_check is on.
inline constexpr std::uint32_t kCheckedFlag = 0x8000'0000;
// A provider does it.
inline constexpr std::uint32_t kProvidedFlag = 0x4000'0000;

// The call of a member, in numbers; all of it but `member` goes into the digest. The last four are
// there with coll_check alone.
struct Described {
  std::uint32_t kind = 0;
  std::int32_t type = 0;
  std::int32_t op = 0;  // -1: a function of the user's
  std::uint32_t root = 0;
  std::uint64_t count = 0;  // 0 for v-kinds
  std::uint32_t flags = 0;
  std::uint32_t member = 0;    // whose it is; not part of the digest
  std::uint32_t counts = 0;    // a hash of counts that all members have alike
  std::uint32_t function = 0;  // of the user's: the size of its elements, and whether it commutes
  std::uint32_t channel = 0;   // the number of the prepared operation, and that of the call
  std::uint32_t number = 0;
  friend bool operator==(const Described&, const Described&) = default;
};

// Why an operation, or a team, came to its end. It goes over the wire as it is.
struct Blame {
  std::int32_t status = 0;
  std::uint32_t member = 0;
  Described own;    // of a mismatch: what `member` has begun,
  Described other;  // and what another has
};

static_assert(sizeof(Described) == 48 && sizeof(Blame) == 104);

std::uint32_t digest_of(const Described& what) noexcept;
std::uint32_t digest_of(std::span<const std::uint64_t> words) noexcept;

}  // namespace photon::service::coll
