// Stands in the place of proof.cpp where OpenSSL's libcrypto was not found.
#include <stdexcept>

#include "proof.hpp"

namespace photonrun {
namespace {

[[noreturn]] void refuse() {
  throw std::runtime_error(
      "this photonrun was built without OpenSSL's libcrypto (libssl-dev), so that hosts cannot "
      "prove to each other who they are; --root, --join and -H need it");
}

}  // namespace

void require_proofs() { refuse(); }

Nonce random_nonce() { refuse(); }

Proof prove(std::string_view, const Claim&) { refuse(); }

bool is_proof(std::string_view, const Claim&, const Proof&) { refuse(); }

}  // namespace photonrun
