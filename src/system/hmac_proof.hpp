// How one process proves to another that it knows a secret of both, without saying it: HMAC-SHA256
// over who speaks, the hello of the caller, and random bytes of the one who was called. The proofs
// of both are made of these; random bytes of the caller stand in its hello.
// Invariant: a proof of one role is none of another (the role is in it), and none of another
// connection (the random bytes of both are).
// Owner: none (values and functions).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace photon::system {

using Nonce = std::array<std::byte, 32>;
using Proof = std::array<std::byte, 32>;

// Whether this build has a crypto library; without one nothing is proved.
bool can_prove() noexcept;

struct Claim {
  unsigned char role = 0;            // of who speaks, a letter
  std::span<const std::byte> hello;  // as the caller sent it
  Nonce nonce{};                     // of who was called
};

// Nothing: the crypto library failed, or there is none.
std::optional<Proof> prove(std::span<const std::byte> secret, const Claim& claim);

// Takes as long whatever they are.
bool is_same(const Proof& one, const Proof& other) noexcept;

}  // namespace photon::system
