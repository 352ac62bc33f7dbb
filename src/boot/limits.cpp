#include "boot/limits.hpp"

#include "system/random.hpp"

namespace photon::boot {

base::Result<> check_message(Destination destination, std::size_t size_bytes,
                             std::size_t fds_count) {
  if (destination.to >= destination.size) {
    return base::Error{.status = PH_ERR_RANK,
                       .what = "message to rank " + std::to_string(destination.to) +
                               " of a job of " + std::to_string(destination.size),
                       .rank = destination.to};
  }
  if (size_bytes > kMaxMessageBytes || fds_count > kMaxMessageFds) {
    return base::Error{.status = PH_ERR_ARGUMENT,
                       .what = "message of " + std::to_string(size_bytes) + " bytes and " +
                               std::to_string(fds_count) + " descriptors; at most 1024 and 4",
                       .rank = destination.to};
  }
  return {};
}

base::Result<> check_gather(std::size_t mine_bytes, std::size_t all_bytes, std::uint32_t size) {
  if (mine_bytes > kMaxGatherBytes) {
    return base::Error{
        .status = PH_ERR_ARGUMENT,
        .what = "allgather of " + std::to_string(mine_bytes) + " bytes per rank; at most 65536"};
  }
  if (all_bytes != mine_bytes * size) {
    return base::Error{.status = PH_ERR_ARGUMENT,
                       .what = "allgather result of " + std::to_string(all_bytes) + " bytes for " +
                               std::to_string(size) + " ranks with " + std::to_string(mine_bytes) +
                               " bytes each"};
  }
  return {};
}

base::Error queue_full(Rank to) {
  return {.status = PH_AGAIN,
          .what = "rank " + std::to_string(to) + " takes no messages and " +
                  std::to_string(kMaxQueuedMessages) + " wait for it; progress and retry",
          .rank = to};
}

base::Error no_address(Rank rank) {
  return {.status = PH_ERR_NOT_FOUND,
          .what = "the address of rank " + std::to_string(rank) +
                  " is not known here: give it to ph_connect(), or let that rank begin",
          .rank = rank};
}

base::Error other_host(Rank to) {
  return {.status = PH_ERR_ARGUMENT,
          .what = "message with descriptors to rank " + std::to_string(to) +
                  ", which is on another host; what needs them works within one host only",
          .rank = to};
}

base::Result<Secret> random_secret() {
  Secret secret;
  if (!system::fill_random(secret)) return base::system_error("random bytes for the job's secret");
  return secret;
}

}  // namespace photon::boot
