// Whether a test may use libfabric itself, in this build and on this machine.
// Owner: none.
#pragma once

#include <dlfcn.h>

#include "boot/proof.hpp"
#include "transport/ofi/ofi_transport.hpp"

namespace photon::test {

// The provider that needs no NIC.
inline constexpr const char* kRxm = "tcp;ofi_rxm";

// Null, or why not. What libfabric does is out of ThreadSanitizer's sight, so that it takes
// orderings made there for races; and LeakSanitizer finds what it does not give back of connections
// that ended early. ofi over a fabric of the tests' own runs under both.
inline const char* no_real_fabric() {
  static const char* const why = []() -> const char* {
    if (!boot::can_prove()) return "this library was built without OpenSSL";
    if (!transport::ofi::has_fabric()) return "this library was built without libfabric";
    if (::dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr)
      return "ThreadSanitizer does not see the orderings within libfabric";
    if (::dlsym(RTLD_DEFAULT, "__lsan_do_leak_check") != nullptr)
      return "libfabric 1.17 does not give all memory back, which LeakSanitizer reports";
    return transport::ofi::open_fabric({.provider = kRxm,
                                        .domain = "auto",
                                        .is_one_host = true,
                                        .peers_count = 1,
                                        .sends_count = 1,
                                        .receives_count = 1})
               ? nullptr
               : "libfabric has no such provider here";
  }();
  return why;
}

}  // namespace photon::test
