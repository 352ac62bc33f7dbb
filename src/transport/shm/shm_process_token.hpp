// Which process of this machine we are, in 128 bits: two ranks with equal tokens share an address
// space. Pid and start time name a process in its pid namespace, the namespace's inode and the boot
// id make that unique. Where /proc cannot tell, the token is random: nobody is taken for us.
// Owner: none (a value).
#pragma once

#include <cstdint>

namespace photon::transport::shm {

struct ProcessToken {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const ProcessToken&, const ProcessToken&) = default;
};

ProcessToken process_token();

}  // namespace photon::transport::shm
