#include "base/result.hpp"

#include <cerrno>
#include <cstring>

#include "base/resource_limits.hpp"

namespace photon::base {

Error system_error(std::string what) {
  const int number = errno;
  what += ": ";
  what += ::strerrordesc_np(number) ? ::strerrordesc_np(number) : "unknown error";
  what += descriptors_advice(number, descriptors_limit());
  what += memory_advice(number, memory_limit_bytes());
  what += file_size_advice(number, file_size_limit_bytes());
  what += refused_call_advice(number);
  return {.status = PH_ERR_SYSTEM, .native_errno = number, .what = std::move(what)};
}

}  // namespace photon::base
