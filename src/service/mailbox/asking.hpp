// The two messages by which a rank reads a buffer of a mailbox elsewhere: words of a header, packed
// and unpacked (docs/mailbox.md, Messages). Pure.
//
// Invariant: what a decoder returns obeys every bound that a message shows by itself.
// Owner: none; plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "service/mailbox/letter.hpp"

namespace photon::service::mailbox {

// The most bytes that one question may ask for: the range of mailbox_carried_max.
inline constexpr std::uint64_t kMostPart = std::uint64_t{1} << 20;

// A rank asks another one for so many parts at a time.
inline constexpr std::size_t kMostAsked = 16;

// One part of what a get asks for.
struct Ask {
  std::uint64_t address = 0;
  std::uint64_t token = 0;  // how its answer names it
  Read what;
};

// Bytes: in the line, in the payload, or in a body.
struct Answer {
  std::uint64_t token = 0;
  ph_status status = PH_OK;
  std::uint64_t epoch = 0;
  std::uint32_t incarnation = 0;
};

struct DecodedAnswer {
  Answer answer;
  std::span<const std::byte> bytes;  // of one without a body
};

Encoded encode(const Ask& ask) noexcept;
std::optional<Ask> decode_ask(std::span<const std::byte> header) noexcept;
// add_bytes() fills the line.
Encoded encode(const Answer& answer) noexcept;
std::optional<DecodedAnswer> decode_answer(std::span<const std::byte> header,
                                           std::span<const std::byte> payload,
                                           std::uint64_t body_bytes) noexcept;

}  // namespace photon::service::mailbox
