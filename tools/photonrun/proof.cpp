#include "proof.hpp"

#include <optional>
#include <stdexcept>

#include "call_failed.hpp"

namespace photonrun {

namespace system = photon::system;

void require_proofs() {
  if (system::can_prove()) return;
  throw std::runtime_error(
      "this photonrun was built without OpenSSL's libcrypto (libssl-dev), so that hosts cannot "
      "prove to each other who they are; --root, --join and -H need it");
}

Nonce random_nonce() {
  require_proofs();
  Nonce nonce{};
  fill_random(nonce);
  return nonce;
}

Proof prove(std::string_view key, const Claim& claim) {
  require_proofs();
  const auto proof = system::prove(
      std::as_bytes(std::span(key)),
      {.role = static_cast<unsigned char>(claim.role), .hello = claim.hello, .nonce = claim.root});
  if (!proof) throw std::runtime_error("HMAC-SHA256 failed");
  return *proof;
}

bool is_proof(std::string_view key, const Claim& claim, const Proof& proof) {
  return system::is_same(prove(key, claim), proof);
}

}  // namespace photonrun
