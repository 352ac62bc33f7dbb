// How two photonruns prove to each other that they know the job's key: system/hmac_proof.hpp, with
// their roles and exceptions. Owner: none (values and functions).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "system/hmac_proof.hpp"

namespace photonrun {

using photon::system::Nonce;
using photon::system::Proof;
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
