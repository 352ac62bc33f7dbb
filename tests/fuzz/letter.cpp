// Whatever a peer sends to mailboxes: the decoders of its messages. What they accept is what its
// own encoding would be.
//
// Input: [bytes of the header, at most 64] [bytes of the payload, by 8] [a body: none, or its size]
// header... payload...
//
// A finding is an abort() here or a report of AddressSanitizer: both parts have exactly their size.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "service/mailbox/asking.hpp"
#include "wire/status.hpp"

namespace {

using namespace photon::service::mailbox;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kPrefixBytes = 3;
constexpr std::size_t kMostHeaderBytes = 64;

void require(bool holds) {
  if (!holds) std::abort();
}

std::uint64_t word_of(const Bytes& header, std::size_t index) {
  std::uint64_t word = 0;
  std::memcpy(&word, header.data() + index * sizeof word, sizeof word);
  return word;
}

// What was accepted is what its own encoding says, but for the bytes that fill up the last word.
void check_mail(const Bytes& header, const Bytes& payload, std::uint64_t body_bytes) {
  const auto found = decode_mail(header, payload, body_bytes);
  if (!found) return;
  const Letter& letter = found->letter;
  require(letter.has_body == (body_bytes != 0));
  require(!letter.is_stored || (letter.is_offer && letter.mail.epoch == PH_ANY_EPOCH));
  require(letter.mail.withdraws ? (letter.mail.size_bytes | letter.mail.offset) != 0 &&
                                      found->bytes.empty() && !letter.has_body && !letter.is_offer
          : letter.is_offer
              ? letter.mail.size_bytes != 0 && found->bytes.empty() && !letter.has_body
              : letter.mail.size_bytes == (letter.has_body ? body_bytes : found->bytes.size()));
  Encoded again = encode(letter);
  const bool in_line = payload.empty() && !found->bytes.empty();
  const std::size_t count = in_line ? add_bytes(again, found->bytes) : again.count;
  require(count * sizeof(std::uint64_t) == header.size());
  const std::size_t known =
      again.count * sizeof(std::uint64_t) + (in_line ? found->bytes.size() : 0);
  require(std::memcmp(again.words.data(), header.data(), known) == 0);
  if (!payload.empty()) require(found->bytes.data() == payload.data());
}

void check_reply(Op op, const Bytes& header) {
  const auto reply = decode_reply(op, header);
  if (!reply) return;
  require(first_word(reply->op, reply->number) == word_of(header, 0));
  require(photon::wire::is_end(reply->status));
  require(reply->epoch == PH_ANY_EPOCH || (op == Op::verdict && reply->status == PH_OK));
}

void check_ask(const Bytes& header) {
  const auto ask = decode_ask(header);
  if (!ask) return;
  const Encoded again = encode(*ask);
  require(again.count * sizeof(std::uint64_t) == header.size());
  require(std::memcmp(again.words.data(), header.data(), header.size()) == 0);
  require(ask->what.size_bytes <= kMostPart);
}

void check_grant(const Bytes& header) {
  const auto granted = decode_grant(header);
  if (!granted) return;
  const Encoded again = encode(*granted);
  require(again.count * sizeof(std::uint64_t) == header.size());
  require(std::memcmp(again.words.data(), header.data(), header.size()) == 0);
  require(granted->number != 0 && granted->size_bytes != 0 && granted->threshold != 0);
}

void check_answer(const Bytes& header, const Bytes& payload, std::uint64_t body_bytes) {
  const auto found = decode_answer(header, payload, body_bytes);
  if (!found) return;
  Encoded again = encode(found->answer);
  const bool in_line = payload.empty() && !found->bytes.empty();
  const std::size_t count = in_line ? add_bytes(again, found->bytes) : again.count;
  require(count * sizeof(std::uint64_t) == header.size());
  require(found->answer.status == PH_OK || (found->bytes.empty() && body_bytes == 0));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  if (size_bytes < kPrefixBytes) return 0;
  const std::uint8_t* at = data + kPrefixBytes;
  std::size_t left = size_bytes - kPrefixBytes;
  const auto part = [&](std::size_t wanted) {
    const std::size_t size = std::min(wanted, left);
    Bytes bytes(size);
    if (size != 0) std::memcpy(bytes.data(), at, size);
    at += size;
    left -= size;
    return bytes;
  };
  const Bytes header = part(data[0] % (kMostHeaderBytes + 1));
  const Bytes payload = part(std::size_t{data[1]} * 8);
  const auto op = op_of(header);
  if (!op) return 0;
  if (*op == Op::mail)
    check_mail(header, payload, data[2]);
  else if (*op == Op::ask)
    check_ask(header);
  else if (*op == Op::grant)
    check_grant(header);
  else if (*op == Op::answer)
    check_answer(header, payload, data[2]);
  else
    check_reply(*op, header);
  return 0;
}
