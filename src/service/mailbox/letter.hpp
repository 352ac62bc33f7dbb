// The messages between mailboxes of two ranks: words of a header, packed and unpacked
// (docs/mailbox.md, Messages). Pure.
//
// Invariant: what decode() returns obeys every bound that a message shows by itself.
// Owner: none; plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "service/mailbox/window.hpp"
#include "wire/record.hpp"

namespace photon::service::mailbox {

enum class Op : std::uint8_t {
  mail = 1,     // a message, whose bytes come along
  kept = 2,     // `number` waits here for a buffer
  verdict = 3,  // `number` is over, with `status`; if it has landed, in `epoch`
  credit = 4,   // all before `number` that were not named otherwise have landed
  ask = 5,      // for a part of a buffer (asking.hpp)
  answer = 6,   // it, or why not
  recall = 7,   // of `number`, by its sender: it shall not land if it has not yet
  grant = 8,    // a buffer of the sender, granted ahead (ahead.hpp)
};

// A message to a mailbox as its sender describes it. Bytes: in the line, in the payload, in a
// body, or still at its sender, where `source` names them.
struct Letter {
  std::uint64_t address = 0;
  Mail mail;
  bool asks = false;  // for a verdict in any case
  bool has_body = false;
  bool is_offer = false;
  bool is_stored = false;  // of an offer: its bytes lie already in the buffer of `grant`, too
  ph_target source{};
  std::uint64_t grant = 0;

  // Those that come with it.
  std::uint64_t carried_bytes() const noexcept {
    return is_offer || mail.withdraws ? 0 : mail.size_bytes;
  }
};

// How a message has ended, and if it has landed, in which epoch.
struct End {
  ph_status status = PH_OK;
  std::uint64_t epoch = PH_ANY_EPOCH;
};

// How a message ends that its sender has called back in time, as an announcement does.
inline constexpr ph_status kCalledOff = PH_ERR_NOT_FOUND;

// The token of a promise that stands for no mail.
inline constexpr std::uint64_t kNoMail = UINT64_MAX;

// So many mails of a sender to one rank may be without a credit, or wait there.
inline constexpr std::size_t kMostMails = std::size_t{1} << 20;

// So many of a sender's offers may be without a verdict.
inline constexpr std::size_t kMostOffers = 1024;

// A buffer that only its receiver's one source writes to.
struct Granted {
  std::uint64_t address = 0;  // of the mailbox
  std::uint64_t number = 0;   // of the grant, from 1 on
  ph_target place{};
  std::uint64_t size_bytes = 0;
  std::uint64_t threshold = 0;
  bool counts_operations = false;
  bool is_first = false;  // what was granted before for this address is no good any more
};

// A receiver's answer about the mails of one sender, which both count from 0; or a recall.
struct Reply {
  Op op = Op::credit;
  std::uint64_t number = 0;
  std::uint64_t status = 0;            // of a verdict: as a word
  std::uint64_t epoch = PH_ANY_EPOCH;  // of a verdict: in which it has landed; any: in none
};

inline constexpr std::size_t kWords = wire::kWordsPerLine;
using Words = std::array<std::uint64_t, kWords>;

// The words that go in front, and how many: bytes that fit stand behind them.
struct Encoded {
  Words words{};
  std::size_t count = 0;
  std::size_t room_bytes() const noexcept { return (kWords - count) * sizeof(std::uint64_t); }
};
Encoded encode(const Letter& letter) noexcept;
Encoded encode(const Granted& granted) noexcept;
// The bytes behind them; they fit. How many words there are then.
std::size_t add_bytes(Encoded& encoded, std::span<const std::byte> bytes) noexcept;

constexpr std::uint64_t first_word(Op op, std::uint64_t rest = 0) noexcept {
  return static_cast<std::uint64_t>(op) | rest << 8;
}

// The first word of a mail that brings one word in its line, says nothing else, and asks for
// nothing: address, offset and the word follow.
inline constexpr std::uint64_t kWordMail =
    first_word(Op::mail, std::uint64_t{sizeof(std::uint64_t)} << 8);

// The kind that a header's first word names; none: malformed.
std::optional<Op> op_of(std::span<const std::byte> header) noexcept;

struct Decoded {
  Letter letter;
  std::span<const std::byte> bytes;  // of one without a body: in the header or the payload
};
// `body_bytes`: of the body that comes with it; 0: none does.
std::optional<Decoded> decode_mail(std::span<const std::byte> header,
                                   std::span<const std::byte> payload,
                                   std::uint64_t body_bytes) noexcept;
std::optional<Granted> decode_grant(std::span<const std::byte> header) noexcept;
std::optional<Reply> decode_reply(Op op, std::span<const std::byte> header) noexcept;

}  // namespace photon::service::mailbox
