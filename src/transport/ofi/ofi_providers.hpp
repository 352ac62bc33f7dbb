// Which of the providers that libfabric offers is taken.
//
//   every offer -- refusal() null --> tried in the order of choice(): the first that opens is taken
//               -- else ------------> named in the error, if none is left
//
// Owner: none (pure functions on what fi_getinfo() said).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transport/ofi/fabric.hpp"

namespace photon::transport::ofi {

// What is looked at of an offer.
struct Offer {
  std::string_view provider;
  std::string_view domain;
  std::size_t most_bytes = 0;
  bool is_met = false;  // it begins at an address by which other hosts have met this one
};

// Why this one is not tried; null: it is.
const char* refusal(const Offer& offer, const FabricWants& wants) noexcept;
// Indices of those that are tried: the loopback first in a job of one host, else provider by
// provider in the order of the list, which is from fast to slow, and of one provider first where
// others have met us.
std::vector<std::size_t> choice(std::span<const Offer> offers, const FabricWants& wants);

// Domains of the same provider that are tried as well, in that order.
std::vector<std::string> others_than(std::span<const Offer> offers, std::size_t taken,
                                     const FabricWants& wants);
// By what a peer was not reached, and how another domain is chosen: for the end of an error.
std::string way_text(const Fabric::Traits& traits);

// Whether this one, as a target, ends the process by a signal when an endpoint is closed that has
// half of a peer's write with data: ofi_rxm 1.17 takes the failure that tcp reports of it for one
// of its own operations, and there is none.
bool forgets_whose_writes(std::string_view provider) noexcept;

// What the user should know of this provider in a job of so many ranks; null: nothing. `is_told`:
// the environment has FI_UNIVERSE_SIZE. libfabric sizes the queues of utility providers by it (256
// without) and can be told in no other way. We do not set it: other threads may be reading the
// environment.
const char* advice(std::string_view provider, std::size_t ranks_count, bool is_told) noexcept;

}  // namespace photon::transport::ofi
