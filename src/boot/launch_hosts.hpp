// Which ranks of a launcher's job are on one host, as its WELCOME says.
// Invariant: all ranks of a job have the same, or none has any. It has at most
// PH_LAUNCH_MAX_HOST_RUNS runs, however many ranks there are.
// Owner: LaunchBoot. Threads: any; it never changes.
#pragma once

#include <photon/launch.h>

#include <optional>
#include <vector>

#include "boot/boot.hpp"

namespace photon::boot {

class LaunchHosts {
 public:
  LaunchHosts() = default;  // nothing is known
  // `runs`: what follows `welcome` in its packet; none where nothing is known. Nothing: malformed.
  static std::optional<LaunchHosts> read(std::span<const std::byte> runs,
                                         const ph_launch_welcome& welcome);

  // The first rank of that rank's host, for a rank of the job; nothing: it is not known.
  std::optional<Rank> first_of(Rank rank) const;

 private:
  struct Run {
    Rank first;                // rank of its first host
    std::uint32_t host_ranks;  // ranks of each of its hosts
  };

  std::vector<Run> runs_;  // by their first ranks
};

}  // namespace photon::boot
