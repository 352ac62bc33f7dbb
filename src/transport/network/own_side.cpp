#include "transport/network/own_side.hpp"

#include <string>
#include <utility>

#include "transport/network/free_entries.hpp"

namespace photon::transport::network {

base::Result<> OwnSide::open(std::span<RegionEntry> given, std::size_t count) {
  auto regions = own_or_given(given, count);
  if (!regions) return std::move(regions.error());
  regions_ = std::move(*regions);
  regions_count_ = count;
  return {};
}

base::Result<> OwnSide::take_lane(std::uint64_t most) {
  const std::scoped_lock lock(mutex_);
  if (lanes_count_ == most)
    return base::Error{.status = PH_ERR_MEMORY,
                       .what = "all " + std::to_string(most) +
                               " lanes are open, the context's own included; close one or raise "
                               "PHOTON_MAX_LANES"};
  ++lanes_count_;
  return {};
}

void OwnSide::give_lane_back() noexcept {
  const std::scoped_lock lock(mutex_);
  --lanes_count_;
}

}  // namespace photon::transport::network
