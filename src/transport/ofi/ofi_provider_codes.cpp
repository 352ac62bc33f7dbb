#include "transport/ofi/ofi_provider_codes.hpp"

#include <cerrno>

namespace photon::transport::ofi {

namespace {

// What a call can say that has to do with the connection to the peer; all else (no memory, no
// descriptors, a fragment that the provider does not take) is between us and our provider.
bool is_of_connection(ssize_t code) noexcept {
  switch (-code) {
    case ECONNREFUSED:
    case ECONNRESET:
    case ECONNABORTED:
    case ENOTCONN:
    case ESHUTDOWN:
    case ETIMEDOUT:
    case EPIPE:
    case ENETRESET:
    case EHOSTDOWN: return true;
    default: return false;
  }
}

}  // namespace

// A provider that connects at the first message or fragment asks the kernel for a route then.
Taken taken_message(ssize_t code) noexcept {
  switch (-code) {
    case 0: return Taken::yes;
    case EAGAIN: return Taken::full;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN: return Taken::no_way;
    default: return Taken::failed;
  }
}

Taken taken_fragment(ssize_t code) noexcept {
  const Taken how = taken_message(code);
  return how != Taken::failed || is_of_connection(code) ? how : Taken::refused;
}

}  // namespace photon::transport::ofi
