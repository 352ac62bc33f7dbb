// How one process proves to another that it knows a secret of both, without saying it: HMAC-SHA256
// over who speaks, what was said first, and random bytes of the one who is to be convinced.
// Invariant: a proof of one role is none of another (the role is in it), and none of another
// connection (the random bytes of both are: one's own stand in what was said first).
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
  std::span<const std::byte> hello;  // as it was sent
  Nonce nonce{};
};

// Nothing: the crypto library failed, or there is none.
std::optional<Proof> prove(std::span<const std::byte> secret, const Claim& claim);

// Takes as long whatever they are.
bool is_same(const Proof& one, const Proof& other) noexcept;

}  // namespace photon::system
