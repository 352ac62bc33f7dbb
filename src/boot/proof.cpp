#include "boot/proof.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <vector>

#include "system/random.hpp"

namespace photon::boot {

base::Result<> can_prove() { return {}; }

base::Result<Nonce> random_nonce() {
  Nonce nonce{};
  if (!system::fill_random(nonce)) return base::system_error("random bytes for a connection");
  return nonce;
}

Proof prove(const Secret& secret, const Claim& claim) {
  std::vector<std::byte> said;
  said.reserve(1 + claim.hello.size() + claim.acceptor.size());
  said.push_back(static_cast<std::byte>(claim.role));
  said.insert(said.end(), claim.hello.begin(), claim.hello.end());
  said.insert(said.end(), claim.acceptor.begin(), claim.acceptor.end());
  Proof proof{};
  unsigned bytes = 0;
  const auto* made = ::HMAC(::EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                            reinterpret_cast<const unsigned char*>(said.data()), said.size(),
                            reinterpret_cast<unsigned char*>(proof.data()), &bytes);
  if (made == nullptr || bytes != proof.size()) proof = {};
  return proof;
}

bool is_proof(const Secret& secret, const Claim& claim, const Proof& proof) {
  const Proof wanted = prove(secret, claim);
  const bool is_made =
      std::any_of(wanted.begin(), wanted.end(), [](std::byte one) { return one != std::byte{0}; });
  return is_made && ::CRYPTO_memcmp(wanted.data(), proof.data(), proof.size()) == 0;
}

}  // namespace photon::boot
