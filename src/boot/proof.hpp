// How two ranks prove to each other that they know the job's secret, without saying it: HMAC-SHA256
// over who speaks, what the dialer said first, and the random bytes of both.
// Invariant: a proof of one side is none of the other (the role is in it), and none of another
// connection (the random bytes are). Owner: none (values and functions).
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "base/result.hpp"
#include "boot/boot.hpp"

namespace photon::boot {

using Nonce = std::array<std::byte, 32>;
using Proof = std::array<std::byte, 32>;
enum class Role : unsigned char { dialer = 'D', acceptor = 'A' };

// Whether this build can prove anything: PH_ERR_CONFIG names what was missing when it was built.
base::Result<> can_prove();

// 32 bytes that nobody can guess.
base::Result<Nonce> random_nonce();

struct Claim {
  Role role = Role::dialer;
  std::span<const std::byte> hello;  // as the dialer sent it, its nonce in it
  Nonce acceptor{};
};
// Nothing but zeros if the library fails, which is a proof of nothing.
Proof prove(const Secret& secret, const Claim& claim);
// Takes as long whatever the proof is.
bool is_proof(const Secret& secret, const Claim& claim, const Proof& proof);

}  // namespace photon::boot
