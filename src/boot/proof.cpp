#include "boot/proof.hpp"

#include <optional>
#include <utility>

#include "system/random.hpp"

namespace photon::boot {

namespace {

std::optional<Proof> proof_of(const Secret& secret, const Claim& claim) {
  return system::prove(secret, {.role = static_cast<unsigned char>(claim.role),
                                .hello = claim.hello,
                                .nonce = claim.acceptor});
}

}  // namespace

base::Result<> can_prove() {
  if (system::can_prove()) return {};
  return base::Error{
      PH_ERR_CONFIG, 0,
      "this library was built without a crypto library, so ranks of a network cannot prove who "
      "they are; install libssl-dev and build again, or choose another transport"};
}

base::Result<Nonce> random_nonce() {
  if (auto can = can_prove(); !can) return std::move(can.error());
  Nonce nonce{};
  if (!system::fill_random(nonce)) return base::system_error("random bytes for a connection");
  return nonce;
}

Proof prove(const Secret& secret, const Claim& claim) {
  return proof_of(secret, claim).value_or(Proof{});
}

bool is_proof(const Secret& secret, const Claim& claim, const Proof& proof) {
  const auto wanted = proof_of(secret, claim);
  return wanted && system::is_same(*wanted, proof);
}

}  // namespace photon::boot
