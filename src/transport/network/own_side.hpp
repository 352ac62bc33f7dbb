// What the lanes of a rank share: the table of its registrations, the clock, and how many lanes
// there are.
// Owner: the lanes of the rank (shared_ptr). Threads: any of the lanes' threads may take or give
// back a lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "base/result.hpp"
#include "base/time_source.hpp"
#include "transport/transport.hpp"

namespace photon::transport::network {

class OwnSide {
 public:
  // The registrations of another transport, which outlives this, if it has any; else `count` free
  // ones. PH_ERR_SYSTEM.
  base::Result<> open(std::span<RegionEntry> given, std::size_t count);
  std::span<RegionEntry> regions() const noexcept { return {regions_.get(), regions_count_}; }

  // PH_ERR_MEMORY: as many as `most` are open.
  base::Result<> take_lane(std::uint64_t most);
  void give_lane_back() noexcept;

  base::TimeSource time;  // which each lane copies when it opens

 private:
  std::shared_ptr<RegionEntry[]> regions_;
  std::size_t regions_count_ = 0;
  std::mutex mutex_;  // of:
  std::uint64_t lanes_count_ = 0;
};

}  // namespace photon::transport::network
