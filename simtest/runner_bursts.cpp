// After the audit: neighbours among those that stay send each other as many ids as there is credit,
// and some more.
//
//   even ranks send, standing still afterwards --> odd ranks take what comes without them
//     --> the even ones go on --> the rest is taken; then the same the other way round
#include <algorithm>
#include <cstring>

#include "simtest/runner_job.hpp"

namespace photon::simtest {

// Until all have come to this stage of the bursts, outside the library and so without progress.
// False: after a finding.
bool Runner::stand_still(std::uint32_t stage) {
  for (++at_bursts_; at_bursts_ < stage * stayers_.size() && !oracle_.failed();)
    world_.pause(kLongestQuietNs);
  return !oracle_.failed();
}

void Runner::send_burst(ph_rank rank, ph_rank peer, const Burst& burst) {
  std::byte* id = seats_[rank].id_room.data();
  std::fill_n(id, burst.id_bytes, std::byte{});
  for (std::uint64_t i = 0; i < burst.posted() && !oracle_.failed(); ++i) {
    std::memcpy(id, &i, sizeof i);
    ph_put_args args{};
    args.size = sizeof args;
    args.remote = {id, burst.id_bytes};
    args.flags = PH_NO_LCE;
    expect(rank, "a put of the burst", ph_put(context(rank), peer, &args));
  }
}

// The next ids of the burst, as far as they have come; `first` is the number expected next.
std::uint64_t Runner::take_ids(ph_rank rank, ph_rank peer, std::uint64_t first) {
  const std::size_t count = probe(rank, {peer, PH_EITHER, seats_[rank].id_room.data()}, kMostFound);
  for (std::size_t i = 0; i < count; ++i) {
    const ph_completion& one = seats_[rank].found[i];
    if (one.kind != PH_REMOTE || one.id != first + i)
      oracle_.report("order", "rank " + std::to_string(rank) + " probed a " + text_of(one) +
                                  ", expected was id " + std::to_string(first + i) +
                                  " of the burst");
  }
  return count;
}

// What comes while its sender stands still: the last look is after the longest way of a packet.
std::uint64_t Runner::take_burst(ph_rank rank, ph_rank peer, const Burst& burst) {
  constexpr std::uint64_t kLooks = 4;
  std::uint64_t came = 0;
  for (std::uint64_t quiet = 0; quiet < kLooks && !oracle_.failed(); ++quiet) {
    world_.pause(network_delay_ns_ / kLooks + 1000);
    while (const std::uint64_t count = take_ids(rank, peer, came)) {
      came += count;
      quiet = 0;
    }
  }
  if (const std::string what = burst.breach(came); !what.empty())
    oracle_.report("credits", "rank " + std::to_string(peer) + " to rank " + std::to_string(rank) +
                                  ": " + what);
  return came;
}

// The same for senders, who only make progress, and for receivers, who take what was left.
void Runner::end_burst(ph_rank rank, ph_rank peer, std::uint64_t came, std::uint64_t missing) {
  const std::size_t whole = (at_bursts_ / stayers_.size() + 1) * stayers_.size();
  std::uint64_t tries = 0;
  if (missing == 0) ++at_bursts_;
  while (at_bursts_ < whole && !oracle_.failed()) {
    const std::uint64_t count = take_ids(rank, peer, came);
    came += count;
    if (missing != 0 && count >= missing) ++at_bursts_;
    missing -= std::min(missing, count);
    if (++tries > 100'000) oracle_.report("lost", "the rest of a burst does not come");
    if (count == 0) world_.pause(network_delay_ns_ / 8 + 100);
  }
}

// Only where memory is shared is there any.
std::uint64_t Runner::overflow_room() const {
  if (!shares_memory_) return 0;
  return std::min(option_of(program_, "overflow_bytes"),
                  option_of(program_, "overflow_total_bytes"));
}

void Runner::exchange_bursts(ph_rank rank) {
  const std::uint64_t id_max = option_of(program_, "max_cid_size");
  const std::size_t count = stayers_.size();
  const auto me = static_cast<std::size_t>(std::find(stayers_.begin(), stayers_.end(), rank) -
                                           stayers_.begin());
  const std::size_t next = (me + 1) % count;
  const std::size_t previous = (me + count - 1) % count;
  for (std::uint32_t turn = 0; turn < 2; ++turn) {
    const Burst burst{option_of(program_, "ledger_slots"), option_of(program_, "ring_lines"),
                      option_of(program_, "requests"),
                      turn == 0 ? 8 : static_cast<std::uint32_t>(id_max), overflow_room()};
    const bool sends = me % 2 == turn && next % 2 != turn && !oracle_.is_lost(rank, stayers_[next]);
    const bool takes =
        me % 2 != turn && previous % 2 == turn && !oracle_.is_lost(rank, stayers_[previous]);
    std::uint64_t came = 0;
    if (sends) send_burst(rank, stayers_[next], burst);
    if (!stand_still(3 * turn + 1)) return;
    if (takes) came = take_burst(rank, stayers_[previous], burst);
    if (!stand_still(3 * turn + 2)) return;
    end_burst(rank, stayers_[previous], came, takes ? burst.posted() - came : 0);
    if (oracle_.failed()) return;
  }
}

}  // namespace photon::simtest
