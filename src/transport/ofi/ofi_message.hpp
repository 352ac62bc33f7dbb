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
#include "transport/network/credit_body.hpp"
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
  bye,        // the sender's transport ends, `lines` 1: in order; nothing follows
  ask,        // KeyBody: may I touch what you have registered under this key?
  tell,       // TellBody: the answer
  back,       // BackBody: give the lease back; key 0: that RMA endpoint has ended, and with it all
              // leases
  given,  // KeyBody: I touch it no more until I have asked again; key 0: end that RMA endpoint, for
          // of fragments under way to it I do not know what became
  seen,   // KeyBody: so many (`key`) of your fragments have told me that they have landed
  landed,  // KeyBody: what a fragment of mine should have told you (`key`, without a tag)
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
// Fragments that a rank may have to one peer; and asks of it that wait for our answer: for each
// fragment, and for leases that ended with an RMA endpoint while their fragments were over after
// all.
inline constexpr std::size_t kMostFragments = 8;
inline constexpr std::size_t kMostAsks = 2 * kMostFragments;
// Fragments with an imm are numbered. From the oldest on of which it is not known whether it has
// told its target, no more than these go.
inline constexpr std::size_t kMostNumbers = 2 * kMostFragments;

// `rma_endpoint`: of the owner of the memory, where there is no key.
struct KeyBody {
  std::uint64_t key = 0;
  std::uint64_t rma_endpoint = 0;
};
// What its sender has heard from the receiver's fragments.
struct ToldBody {
  std::uint64_t ended = 0;   // the sender's RMA endpoints up to this number: nothing comes by them
  std::uint64_t wished = 0;  // the latest of them that ended because the receiver wished it
  // How many fragments have told, by their numbers modulo kMostNumbers.
  std::array<std::uint32_t, kMostNumbers> told{};
};
struct BackBody {
  KeyBody about;
  ToldBody told;
};
struct TellBody {
  std::uint64_t key = 0;
  std::int32_t status = 0;  // not 0: no, and nothing stands from access to rma_endpoint_address
  std::uint32_t access = 0;
  std::uint64_t address = 0;  // of the registration
  std::uint64_t size_bytes = 0;
  std::uint64_t begin = 0;               // what the RMA endpoint calls its first byte
  std::uint64_t rma_endpoint_key = 0;    // what opens it
  std::uint64_t rma_endpoint = 0;        // the how-manieth of this rank, from 1 on
  std::uint64_t rma_endpoint_bytes = 0;  // of:
  std::array<std::byte, kMostAddressBytes> rma_endpoint_address{};
  ToldBody told;
};
static_assert(sizeof(KeyBody) == 16 && sizeof(BackBody) == 96 && sizeof(TellBody) == 656 &&
                  std::has_unique_object_representations_v<TellBody>,
              "no padding travels");
static_assert(sizeof(MessageHead) == 24 && sizeof(Hello) == 56 && sizeof(HelloBody) == 608 &&
              sizeof(Challenge) == 64 && sizeof(ProofBody) == 64);
static_assert(std::has_unique_object_representations_v<MessageHead> &&
                  std::has_unique_object_representations_v<HelloBody>,
              "no padding travels");

constexpr bool is_handshake(MessageKind kind) noexcept { return kind <= MessageKind::welcome; }
// About memory that is touched without messages.
constexpr bool is_about_memory(MessageKind kind) noexcept {
  return kind >= MessageKind::ask && kind <= MessageKind::landed;
}

// What who made this nonce wants in the heads of the other.
inline std::uint64_t key_of(const boot::Nonce& nonce) noexcept {
  std::uint64_t key = 0;
  std::memcpy(&key, nonce.data(), sizeof key);
  return key;
}

}  // namespace photon::transport::ofi
