// What every kind of boot checks in the same way before it sends. Owner: none, functions only.
#pragma once

#include "boot/boot.hpp"

namespace photon::boot {

// Messages one rank may have waiting for one socket; set-up needs a handful per peer.
inline constexpr std::size_t kMaxQueuedMessages = 65536;
inline constexpr std::size_t kMaxGatherBytes = 64 * 1024;

struct Destination {
  Rank to;
  std::uint32_t size;  // ranks in the job
};

base::Result<> check_message(Destination destination, std::size_t size_bytes,
                             std::size_t fds_count);
base::Result<> check_gather(std::size_t mine_bytes, std::size_t all_bytes, std::uint32_t size);

// Back-pressure, as an Error because the contract knows no third result: PH_AGAIN.
base::Error queue_full(Rank to);

// Nobody has said where that rank is: PH_ERR_NOT_FOUND.
base::Error no_address(Rank rank);

// Descriptors do not leave a host.
base::Error other_host(Rank to);

base::Result<Secret> random_secret();

}  // namespace photon::boot
