#include "compat/warn.hpp"

#include <cstdio>

namespace photon::classic {

void warn(const char* call, const char* what) noexcept {
  std::fprintf(stderr, "photon: %s: %s\n", call, what);
}

}  // namespace photon::classic
