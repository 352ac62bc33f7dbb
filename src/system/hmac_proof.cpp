#include "system/hmac_proof.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <vector>

namespace photon::system {

bool can_prove() noexcept { return true; }

std::optional<Proof> prove(std::span<const std::byte> secret, const Claim& claim) {
  std::vector<std::byte> said;
  said.reserve(1 + claim.hello.size() + claim.nonce.size());
  said.push_back(static_cast<std::byte>(claim.role));
  said.insert(said.end(), claim.hello.begin(), claim.hello.end());
  said.insert(said.end(), claim.nonce.begin(), claim.nonce.end());
  Proof proof{};
  unsigned bytes = 0;
  const auto* made = ::HMAC(::EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                            reinterpret_cast<const unsigned char*>(said.data()), said.size(),
                            reinterpret_cast<unsigned char*>(proof.data()), &bytes);
  if (made == nullptr || bytes != proof.size()) return std::nullopt;
  return proof;
}

bool is_same(const Proof& one, const Proof& other) noexcept {
  return ::CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace photon::system
