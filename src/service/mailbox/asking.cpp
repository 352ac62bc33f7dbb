#include "service/mailbox/asking.hpp"

#include <cstring>

#include "service/mailbox/words.hpp"
#include "wire/status.hpp"

namespace photon::service::mailbox {

namespace {

constexpr std::size_t kAskWords = 5;
constexpr std::size_t kAnswerWords = 4;

}  // namespace

Encoded encode(const Ask& ask) noexcept {
  const Read& what = ask.what;
  const bool names_epoch = what.epoch != PH_ANY_EPOCH;
  const std::uint64_t flags = (names_epoch ? kNamesEpoch : 0) | (what.is_last ? kAskIsLast : 0);
  Encoded encoded;
  encoded.words = {static_cast<std::uint64_t>(Op::ask) | flags << kFlagsShift |
                       std::uint64_t{what.incarnation} << kIncarnationShift,
                   ask.address, what.offset, what.size_bytes, ask.token};
  encoded.count = kAskWords;
  if (names_epoch) encoded.words[encoded.count++] = what.epoch;
  return encoded;
}

std::optional<Ask> decode_ask(std::span<const std::byte> header) noexcept {
  const std::uint64_t first = word(header, 0);
  const std::uint64_t flags = first >> kFlagsShift & 0xff'ffff;
  const bool names_epoch = (flags & kNamesEpoch) != 0;
  const std::size_t words = kAskWords + (names_epoch ? 1 : 0);
  if ((flags & ~(kNamesEpoch | kAskIsLast)) != 0 || header.size() != words * kWordBytes)
    return std::nullopt;
  Ask ask;
  ask.address = word(header, 1);
  ask.what.offset = word(header, 2);
  ask.what.size_bytes = word(header, 3);
  ask.token = word(header, 4);
  ask.what.incarnation = static_cast<std::uint32_t>(first >> kIncarnationShift);
  ask.what.is_last = (flags & kAskIsLast) != 0;
  if (names_epoch) ask.what.epoch = word(header, kAskWords);
  if ((names_epoch && ask.what.epoch == PH_ANY_EPOCH) || ask.what.size_bytes > kMostPart)
    return std::nullopt;
  return ask;
}

Encoded encode(const Answer& answer) noexcept {
  Encoded encoded;
  encoded.words = {static_cast<std::uint64_t>(Op::answer) | std::uint64_t{answer.incarnation}
                                                                << kIncarnationShift,
                   answer.token,
                   static_cast<std::uint64_t>(static_cast<std::int64_t>(answer.status)),
                   answer.epoch};
  encoded.count = kAnswerWords;
  return encoded;
}

std::optional<DecodedAnswer> decode_answer(std::span<const std::byte> header,
                                           std::span<const std::byte> payload,
                                           std::uint64_t body_bytes) noexcept {
  if (header.size() < kAnswerWords * kWordBytes) return std::nullopt;
  const std::uint64_t first = word(header, 0);
  const std::uint64_t in_line = first >> kInlineShift & 0xffff;
  const std::size_t words = kAnswerWords + (in_line + kWordBytes - 1) / kWordBytes;
  const std::uint64_t status = word(header, 2);
  if ((first >> kFlagsShift & 0xff) != 0 || header.size() != words * kWordBytes ||
      !wire::is_end(status))
    return std::nullopt;
  // The bytes come in one way, and none with an error.
  const int ways = (in_line != 0) + (payload.empty() ? 0 : 1) + (body_bytes != 0 ? 1 : 0);
  DecodedAnswer found;
  found.answer = {word(header, 1), wire::to_status(status), word(header, 3),
                  static_cast<std::uint32_t>(first >> kIncarnationShift)};
  if (ways > (found.answer.status == PH_OK ? 1 : 0)) return std::nullopt;
  found.bytes = payload.empty() ? header.subspan(kAnswerWords * kWordBytes, in_line) : payload;
  return found;
}

}  // namespace photon::service::mailbox
