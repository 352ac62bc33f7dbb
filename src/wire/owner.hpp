// Who an id or a message belongs to: the application, or a service of the library
// (docs/adding-a-service.md). Four bits of a record's header say it (docs/wire-format.md).
// Owner: none; plain values.
#pragma once

#include <cstdint>

namespace photon::wire {

enum class Owner : std::uint8_t {
  application = 0,
  echo = 1,
  rendezvous = 2,
  mailbox = 3,
  coll = 4,
  am = 5,
};
inline constexpr std::uint8_t kOwners = 6;  // of this version
// More will not fit: fifteen with a size of all ones stands for a record without an id.
static_assert(kOwners <= 15);

}  // namespace photon::wire
