#include "service/mailbox/letter.hpp"

#include <cstring>

#include "service/mailbox/words.hpp"
#include "wire/status.hpp"

namespace photon::service::mailbox {

namespace {

constexpr std::uint64_t kAppends = 2;
constexpr std::uint64_t kAsks = 4;
constexpr std::uint64_t kOffers = 8;
constexpr std::uint64_t kWithdraws = 16;
constexpr std::uint64_t kStored = 32;
constexpr std::uint64_t kMailFlags =
    kNamesEpoch | kAppends | kAsks | kOffers | kWithdraws | kStored;
// Flags of a grant.
constexpr std::uint64_t kCountsOperations = 1;
constexpr std::uint64_t kIsFirst = 2;

}  // namespace

Encoded encode(const Letter& letter) noexcept {
  const Mail& mail = letter.mail;
  const bool names_epoch = mail.epoch != PH_ANY_EPOCH;
  const std::uint64_t flags = (names_epoch ? kNamesEpoch : 0) | (mail.appends ? kAppends : 0) |
                              (letter.asks ? kAsks : 0) | (letter.is_offer ? kOffers : 0) |
                              (mail.withdraws ? kWithdraws : 0) | (letter.is_stored ? kStored : 0);
  Encoded encoded;
  encoded.words[0] = static_cast<std::uint64_t>(Op::mail) | flags << kFlagsShift |
                     std::uint64_t{mail.incarnation} << kIncarnationShift;
  encoded.words[1] = letter.address;
  encoded.words[2] = mail.offset;
  encoded.count = 3;
  if (names_epoch) encoded.words[encoded.count++] = mail.epoch;
  if (letter.is_offer || mail.withdraws) encoded.words[encoded.count++] = mail.size_bytes;
  if (!letter.is_offer) return encoded;
  encoded.words[encoded.count++] = letter.source.address;
  encoded.words[encoded.count++] = letter.source.key;
  if (letter.is_stored) encoded.words[encoded.count++] = letter.grant;
  return encoded;
}

Encoded encode(const Granted& granted) noexcept {
  const std::uint64_t flags =
      (granted.counts_operations ? kCountsOperations : 0) | (granted.is_first ? kIsFirst : 0);
  return {{first_word(Op::grant, flags), granted.address, granted.number, granted.place.address,
           granted.place.key, granted.size_bytes, granted.threshold},
          kWords};
}

std::optional<Granted> decode_grant(std::span<const std::byte> header) noexcept {
  if (header.size() != kWords * kWordBytes) return std::nullopt;
  const std::uint64_t flags = word(header, 0) >> kFlagsShift;
  if ((flags & ~(kCountsOperations | kIsFirst)) != 0) return std::nullopt;
  const Granted granted{.address = word(header, 1),
                        .number = word(header, 2),
                        .place = {word(header, 3), word(header, 4)},
                        .size_bytes = word(header, 5),
                        .threshold = word(header, 6),
                        .counts_operations = (flags & kCountsOperations) != 0,
                        .is_first = (flags & kIsFirst) != 0};
  if (granted.number == 0 || granted.size_bytes == 0 || granted.threshold == 0 ||
      granted.place.address > ~granted.size_bytes)
    return std::nullopt;
  return granted;
}

std::size_t add_bytes(Encoded& encoded, std::span<const std::byte> bytes) noexcept {
  encoded.words[0] |= std::uint64_t{bytes.size()} << kInlineShift;
  if (!bytes.empty()) std::memcpy(encoded.words.data() + encoded.count, bytes.data(), bytes.size());
  return encoded.count + (bytes.size() + kWordBytes - 1) / kWordBytes;
}

std::optional<Op> op_of(std::span<const std::byte> header) noexcept {
  if (header.size() < kWordBytes || header.size() > sizeof(Words) ||
      header.size() % kWordBytes != 0)
    return std::nullopt;
  const std::uint64_t op = word(header, 0) & 0xff;
  if (op < static_cast<std::uint64_t>(Op::mail) || op > static_cast<std::uint64_t>(Op::grant))
    return std::nullopt;
  return static_cast<Op>(op);
}

std::optional<Decoded> decode_mail(std::span<const std::byte> header,
                                   std::span<const std::byte> payload,
                                   std::uint64_t body_bytes) noexcept {
  const std::uint64_t first = word(header, 0);
  const std::uint64_t flags = first >> kFlagsShift & 0xff;
  const std::uint64_t in_line = first >> kInlineShift & 0xffff;
  const bool is_offer = (flags & kOffers) != 0;
  const bool withdraws = (flags & kWithdraws) != 0;
  const std::size_t named = (flags & kNamesEpoch) != 0 ? 4 : 3;
  const bool is_stored = (flags & kStored) != 0;
  if (is_stored && (!is_offer || named != 3)) return std::nullopt;
  const std::size_t fixed = named + (is_offer ? 3 : withdraws ? 1 : 0) + (is_stored ? 1 : 0);
  if ((flags & ~kMailFlags) != 0 ||
      header.size() != fixed * kWordBytes + (in_line + kWordBytes - 1) / kWordBytes * kWordBytes)
    return std::nullopt;
  // The bytes come in one way.
  if ((in_line != 0) + (!payload.empty() ? 1 : 0) + (body_bytes != 0 ? 1 : 0) + is_offer +
          withdraws >
      1)
    return std::nullopt;
  if (withdraws && (flags & kAppends) != 0) return std::nullopt;
  Decoded found;
  Mail& mail = found.letter.mail;
  found.letter.address = mail.named = word(header, 1);
  found.letter.asks = (flags & kAsks) != 0;
  found.letter.has_body = body_bytes != 0;
  found.bytes = payload.empty() ? header.subspan(fixed * kWordBytes, in_line) : payload;
  mail.offset = word(header, 2);
  mail.size_bytes = body_bytes != 0 ? body_bytes : found.bytes.size();
  if (is_offer) {
    found.letter.is_offer = true;
    mail.size_bytes = word(header, named);
    found.letter.source = {word(header, named + 1), word(header, named + 2)};
    found.letter.is_stored = is_stored;
    if (is_stored) found.letter.grant = word(header, named + 3);
    if (mail.size_bytes == 0 || found.letter.source.address > ~mail.size_bytes) return std::nullopt;
  }
  if (withdraws) {
    mail.withdraws = true;
    mail.size_bytes = word(header, named);
    if (mail.size_bytes == 0 && mail.offset == 0) return std::nullopt;
  }
  mail.incarnation = static_cast<std::uint32_t>(first >> kIncarnationShift);
  mail.appends = (flags & kAppends) != 0;
  if ((flags & kNamesEpoch) != 0) mail.epoch = word(header, 3);
  if ((flags & kNamesEpoch) != 0 && mail.epoch == PH_ANY_EPOCH) return std::nullopt;
  return found;
}

std::optional<Reply> decode_reply(Op op, std::span<const std::byte> header) noexcept {
  const std::size_t count = header.size() / kWordBytes;
  Reply reply{.op = op, .number = word(header, 0) >> 8};
  if (op != Op::verdict) return count == 1 ? std::optional(reply) : std::nullopt;
  if (count != 2 && count != 3) return std::nullopt;
  reply.status = word(header, 1);
  if (count == 3) reply.epoch = word(header, 2);
  const bool is_sound = count == 2 ? wire::is_end(reply.status)
                                   : reply.status == PH_OK && reply.epoch != PH_ANY_EPOCH;
  return is_sound ? std::optional(reply) : std::nullopt;
}

}  // namespace photon::service::mailbox
