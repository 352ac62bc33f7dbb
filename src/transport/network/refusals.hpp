// Connections or messages that were turned away, counted by why. The reasons are those of all
// transports; each has its own words for those that it knows, since the one turns connections away
// and the other messages.
// Owner: the transport, under its lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "transport/transport.hpp"

namespace photon::transport::network {

enum class Refusal : std::uint8_t {
  silent,        // it did not say who it is in time, or went
  garbage,       // it is none of this protocol
  version,       // of another version of it
  unexpected,    // of no rank that was expected here, or not what that rank could say now
  wrong_key,     // it does not bear the key that was given to the rank it says it is
  wrong_secret,  // it does not show that its sender knows the secret
  crowded,       // too many at a time had not said who they are
  no_room,       // no descriptor was left for it
};
inline constexpr std::size_t kRefusals = 8;

class Refusals {
 public:
  // Says how many of the kind there are now.
  std::uint64_t add(Refusal why) noexcept { return ++counts_[static_cast<std::size_t>(why)]; }
  std::uint64_t count(Refusal why) const noexcept { return counts_[static_cast<std::size_t>(why)]; }
  RejectedConnections counts() const noexcept;
  // For ph_path_to(): "; refused 2 that ..." for each kind of which there is one. `who` stands
  // before the words that `text` has for the reason.
  std::string words(const char* who, const char* (*text)(Refusal)) const;

 private:
  std::array<std::uint64_t, kRefusals> counts_{};
};

}  // namespace photon::transport::network
