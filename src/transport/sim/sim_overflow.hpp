// The overflow from one rank to another, where the simulated network lets peers touch memory.
// Invariant: zeroed at first; pages that nobody touches cost nothing. Owner: the SimNetwork.
#pragma once

#include <cstdint>

#include "transport/transport.hpp"

namespace photon::transport::sim {

class SimOverflow {
 public:
  explicit SimOverflow(std::uint64_t size_bytes);
  ~SimOverflow();
  SimOverflow(const SimOverflow&) = delete;
  SimOverflow& operator=(const SimOverflow&) = delete;

  Overflow view() noexcept { return {&published_, &taken_, words_}; }

 private:
  sync::OverflowWord<Policy> published_;
  sync::OverflowWord<Policy> taken_;
  Policy::Cell<std::uint64_t>* words_;
  const std::uint64_t size_bytes_;
};

}  // namespace photon::transport::sim
