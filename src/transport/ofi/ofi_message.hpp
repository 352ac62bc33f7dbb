// What travels between two endpoints: messages, each a head, what its kind says, and bytes
// (docs/wire-format.md). Little-endian; nothing is padded.
// Invariant: a message bears the key that its receiver has given to its sender alone, in the hello
// or the challenge: who has not been told cannot say anything that is taken.
// Owner: none (plain values).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "boot/proof.hpp"
#include "transport/carried/credit_body.hpp"
#include "wire/record.hpp"

namespace photon::transport::ofi {

// Of an endpoint, as its provider spells it.
inline constexpr std::size_t kMostAddressBytes = 512;

enum class MessageKind : std::uint8_t {
  hello = 1,  // HelloBody
  challenge,  // Challenge
  proof,      // ProofBody
  welcome,    // nothing: from here on the other kinds
  lines,      // [CreditBody] the rest of their bulk, then `lines` ring lines: whole records
  bulk,       // [CreditBody] a part of the bulk of the record that comes next
  credits,    // CreditBody
  bye,        // the sender's transport ends; nothing follows
};

struct MessageHead {
  std::uint64_t key = 0;
  std::uint32_t from = 0;
  std::uint32_t sequence = 0;  // of the messages after the welcome, from 1 on
  MessageKind kind = MessageKind::lines;
  std::uint8_t has_credits = 0;
  std::uint16_t lines = 0;
  std::uint32_t bulk_bytes = 0;  // all of the bulk of these lines
};

inline constexpr std::uint64_t kHelloKey = 0x6f'6c'6c'65'68'69'66'6fULL;  // "ofihello"

// What a proof is about.
struct Hello {
  std::uint64_t magic = kHelloKey;
  std::uint32_t version = wire::kVersion;
  std::uint32_t lane = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  boot::Nonce nonce{};
};
// Made by who knows the secret: it says where answers go, and nobody else may say that.
struct HelloBody {
  Hello hello;
  std::uint64_t address_bytes = 0;
  std::array<std::byte, kMostAddressBytes> address{};
  boot::Proof seal{};  // the dialer's proof over all that stands before it, for no nonce
};
struct Challenge {
  boot::Nonce nonce{};
  boot::Proof proof{};
};
struct ProofBody {
  boot::Nonce nonce{};  // of the hello
  boot::Proof proof{};
};
static_assert(sizeof(MessageHead) == 24 && sizeof(Hello) == 56 && sizeof(HelloBody) == 608 &&
              sizeof(Challenge) == 64 && sizeof(ProofBody) == 64);
static_assert(std::has_unique_object_representations_v<MessageHead> &&
                  std::has_unique_object_representations_v<HelloBody>,
              "no padding travels");

constexpr bool is_greeting(MessageKind kind) noexcept { return kind <= MessageKind::welcome; }

// What who made this nonce wants in the heads of the other.
inline std::uint64_t key_of(const boot::Nonce& nonce) noexcept {
  std::uint64_t key = 0;
  std::memcpy(&key, nonce.data(), sizeof key);
  return key;
}

}  // namespace photon::transport::ofi
