// In the place of proof.cpp where the build has found no crypto library: the transport says so
// when it is opened, and nothing proves anything.
#include "boot/proof.hpp"

namespace photon::boot {

namespace {

base::Error missing() {
  return {PH_ERR_CONFIG, 0,
          "this library was built without a crypto library, so ranks of a network cannot prove who "
          "they are; install libssl-dev and build again, or choose another transport"};
}

}  // namespace

base::Result<> can_prove() { return missing(); }
base::Result<Nonce> random_nonce() { return missing(); }
Proof prove(const Secret& /*secret*/, const Claim& /*claim*/) { return {}; }
bool is_proof(const Secret& /*secret*/, const Claim& /*claim*/, const Proof& /*proof*/) {
  return false;
}

}  // namespace photon::boot
