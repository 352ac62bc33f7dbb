// How two photonruns prove to each other that they know the job's key, without saying it:
// HMAC-SHA256 over who speaks, the hello and the random bytes of both.
// Invariant: a proof of one side is none of the other (the role is in it), and none of another
// connection (the random bytes are). Owner: none (values and functions).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace photonrun {

using Nonce = std::array<std::uint8_t, 32>;
using Proof = std::array<std::uint8_t, 32>;
enum class Role : unsigned char { root = 'R', leaf = 'L', mask = 'M' };  // mask: hides the secret

// Whether this build can prove anything. Throws std::runtime_error: what it was built without.
void require_proofs();

// 32 bytes that nobody can guess. Throws std::system_error.
Nonce random_nonce();

struct Claim {
  Role role{};
  std::span<const std::byte> hello;  // as the leaf sent it, its nonce in it
  Nonce root{};
};
// Throws std::runtime_error if the library fails.
Proof prove(std::string_view key, const Claim& claim);
// Takes as long whatever the proof is.
bool is_proof(std::string_view key, const Claim& claim, const Proof& proof);

}  // namespace photonrun
