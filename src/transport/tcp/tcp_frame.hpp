// What travels in an open connection: frames, each a head of 16 bytes, what its kind says, and
// bytes (docs/wire-format.md). Little-endian; nothing is padded.
// Invariant: a head says how long its frame is, so that any frame can be skipped.
// Owner: none (plain values).
#pragma once

#include <photon/types.h>

#include <cstdint>
#include <type_traits>

#include "transport/network/credit_body.hpp"
#include "wire/record.hpp"

namespace photon::transport::tcp {

enum class FrameKind : std::uint8_t {
  lines = 1,  // `bytes` of bulk, then `lines` ring lines: any records, or the one with that chunk
  credits,    // CreditBody: what the sender has given back
  write,  // FragmentBody, then its bytes, then end; `bytes` is its imm if `code` says it has one
  read,   // FragmentBody: serve me this
  done,   // the write or the read `token` is over; `code`: its status, negated
  data,   // the bytes of the read `token`, `bytes` of them, then end
  bye,    // the sender's transport ends, `code` 1: in order; or we are over for it, and `bytes`
          // of words say why
  end,    // behind the bytes of write and data; `code`: they are those, or its sender could not
          // read them, and some are zeros
};

struct FrameHead {
  FrameKind kind = FrameKind::lines;
  std::uint8_t code = 0;
  std::uint16_t lines = 0;
  std::uint32_t bytes = 0;
  std::uint64_t token = 0;
};

struct FragmentBody {
  std::uint64_t address = 0;
  std::uint64_t key = 0;
  std::uint64_t size_bytes = 0;
};

// The most words of a bye.
inline constexpr std::uint32_t kMostWordBytes = 512;

using network::CreditBody;
using network::kLineBytes;

static_assert(sizeof(FrameHead) == 16 && sizeof(FragmentBody) == 24);
static_assert(std::has_unique_object_representations_v<FrameHead>, "no padding travels");

// Fragments that a rank may have under way to one peer: what the peer has to keep room for.
inline constexpr std::uint32_t kMostFragments = 16;
// The most bytes of one fragment: `bytes` of its data frame has to hold them.
inline constexpr std::uint64_t kMostFragmentBytes = 0xffff'ffff;

constexpr std::uint8_t code_of(ph_status status) noexcept {
  return static_cast<std::uint8_t>(-status);
}
constexpr ph_status status_of(std::uint8_t code) noexcept {
  return static_cast<ph_status>(-static_cast<int>(code));
}

// Bytes between a frame's head and what it carries; nothing for a kind that there is not.
constexpr std::uint32_t body_bytes(FrameKind kind) noexcept {
  switch (kind) {
    case FrameKind::credits: return sizeof(CreditBody);
    case FrameKind::write:
    case FrameKind::read: return sizeof(FragmentBody);
    case FrameKind::lines:
    case FrameKind::done:
    case FrameKind::data:
    case FrameKind::bye:
    case FrameKind::end: return 0;
  }
  return 0;
}
constexpr bool is_frame(FrameKind kind) noexcept {
  return kind >= FrameKind::lines && kind <= FrameKind::end;
}

}  // namespace photon::transport::tcp
