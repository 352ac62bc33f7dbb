#include "transport/network/refusals.hpp"

namespace photon::transport::network {

RejectedConnections Refusals::counts() const noexcept {
  return {.silent = count(Refusal::silent),
          .garbage = count(Refusal::garbage),
          .version = count(Refusal::version),
          .unexpected = count(Refusal::unexpected),
          .wrong_key = count(Refusal::wrong_key),
          .wrong_secret = count(Refusal::wrong_secret),
          .crowded = count(Refusal::crowded),
          .no_room = count(Refusal::no_room)};
}

std::string Refusals::words(const char* who, const char* (*text)(Refusal)) const {
  std::string all;
  for (std::size_t i = 0; i < kRefusals; ++i) {
    if (counts_[i] == 0) continue;
    all +=
        "; refused " + std::to_string(counts_[i]) + " " + who + " " + text(static_cast<Refusal>(i));
  }
  return all;
}

}  // namespace photon::transport::network
