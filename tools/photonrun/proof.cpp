#include "proof.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <stdexcept>
#include <vector>

#include "call_failed.hpp"

namespace photonrun {

void require_proofs() {}

Nonce random_nonce() {
  Nonce nonce{};
  fill_random(std::as_writable_bytes(std::span(nonce)));
  return nonce;
}

Proof prove(std::string_view key, const Claim& claim) {
  std::vector<unsigned char> said{static_cast<unsigned char>(claim.role)};
  for (const std::byte one : claim.hello) said.push_back(static_cast<unsigned char>(one));
  said.insert(said.end(), claim.root.begin(), claim.root.end());
  Proof proof{};
  unsigned bytes = 0;
  const auto* made = ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()), said.data(),
                            said.size(), proof.data(), &bytes);
  if (made == nullptr || bytes != proof.size()) throw std::runtime_error("HMAC-SHA256 failed");
  return proof;
}

bool is_proof(std::string_view key, const Claim& claim, const Proof& proof) {
  const Proof wanted = prove(key, claim);
  return ::CRYPTO_memcmp(wanted.data(), proof.data(), proof.size()) == 0;
}

}  // namespace photonrun
