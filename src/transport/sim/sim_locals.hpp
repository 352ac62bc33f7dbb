// The memory of one rank that its simulated NIC was shown, and a NIC's reasons to say no: it has
// room for so many registrations, and now and then the system does not let it have the pages.
//
// Invariant: what a fragment reads or writes lies in the registration it names from post() to its
// on_done(). Who breaks that has made a NIC touch memory that it does not know, and is stopped
// with words. Owner: the rank's SimTransport. Threads: one at a time (lane lock).
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "transport/sim/sim_network.hpp"
#include "transport/transport.hpp"

namespace photon::transport::sim {

class SimLocals {
 public:
  SimLocals(SimNetwork& network, Rank me) : network_(network), me_(me) {}

  base::Result<std::uint64_t> add(std::span<const std::byte> memory, bool is_written);
  void remove(std::uint64_t handle) noexcept;

  // A fragment of its own goes to the NIC, and is over. Abort with words if it does not lie in what
  // its handle names.
  void begin(const PostedFragment& fragment) noexcept;
  void end(const PostedFragment& fragment) noexcept;

  std::size_t count() const noexcept { return shown_.size(); }

 private:
  struct Shown {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool is_written = false;
    std::uint32_t fragments = 0;  // under way
  };

  SimNetwork& network_;
  const Rank me_;
  std::map<std::uint64_t, Shown> shown_;  // by handle
  std::uint64_t last_handle_ = 0;
};

}  // namespace photon::transport::sim
