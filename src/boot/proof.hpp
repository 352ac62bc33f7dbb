// How two ranks prove to each other that they know the job's secret: system/hmac_proof.hpp, with
// the ranks' roles and the library's errors. Owner: none (values and functions).
#pragma once

#include <cstddef>
#include <span>

#include "base/result.hpp"
#include "boot/boot.hpp"
#include "system/hmac_proof.hpp"

namespace photon::boot {

using system::Nonce;
using system::Proof;
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
