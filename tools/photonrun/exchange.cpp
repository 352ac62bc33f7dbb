#include "exchange.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace photonrun {
namespace {

constexpr std::size_t kMinQueuedPackets = 1024;  // per rank, and some for each peer on top
constexpr std::size_t kQueuedPacketsPerPeer = 16;
constexpr int kPacketsPerTurn = 64;
constexpr int kLastTurns = 4096;

}  // namespace

Packet refusal(ph_launch_refusal reason, std::uint64_t sequence) {
  const ph_launch_refused body{.reason = reason, .version = PH_LAUNCH_VERSION};
  return make_packet({.type = PH_LAUNCH_REFUSED, .sequence = sequence},
                     std::as_bytes(std::span{&body, 1}));
}

Exchange::Exchange(const Share& share, std::size_t fds_limit)
    : share_(share), fds_limit_(fds_limit) {
  for (unsigned i = 0; i < share.here; ++i) locals_.push_back(std::make_unique<LocalChannel>());
}

// Two entries a rank: its channel, its process. None for who has no channel here, yet or any more:
// there may be many generations, and poll() takes no more entries than files may be open.
void Exchange::want(std::vector<pollfd>& entries) {
  first_entry_ = entries.size();
  wanted_.clear();
  const bool crowded = too_many_fds();
  for (unsigned i = 0; i < share_.here; ++i) {
    const LocalChannel& one = *locals_[i];
    if (!one.is_open()) continue;
    wanted_.push_back(share_.first + i);
    short events = 0;
    // HELLO is always read: what crowds us may wait for the rank that says it.
    const bool reading = !crowded || one.state() == Channel::State::waiting;
    if (reading && !one.stalled && may_read(share_.first + i)) events |= POLLIN;
    if (one.wants_output()) events |= POLLOUT;
    // Without events poll() would still report a hang-up, again and again.
    entries.push_back({.fd = events ? one.socket() : -1, .events = events, .revents = 0});
    entries.push_back({.fd = one.pidfd(), .events = POLLIN, .revents = 0});
  }
}

void Exchange::handle(const std::vector<pollfd>& entries) {
  std::size_t at = first_entry_;
  for (const unsigned rank : std::exchange(wanted_, {})) {
    const pollfd& socket = entries[at++];
    const pollfd& process = entries[at++];
    LocalChannel& one = local(rank);
    if (socket.revents & (POLLOUT | POLLHUP | POLLERR)) one.flush();
    const bool ended = process.revents != 0 && one.state() == Channel::State::joined;
    if (ended) {
      serve(rank, Pace::to_the_end);
      over(rank, {.how = PH_LAUNCH_CLOSED, .value = 0});
    } else if ((socket.revents & ~POLLOUT) != 0) {
      serve(rank, Pace::bounded);
    }
  }
  settle();
}

void Exchange::rank_ended(unsigned rank, ph_launch_gone how) {
  serve(rank, Pace::to_the_end);
  over(rank, how);
  settle();
}

bool Exchange::is_over() const {
  return std::ranges::all_of(locals_,
                             [](const auto& one) { return one->state() == Channel::State::over; });
}

void Exchange::note_leave(unsigned rank, Packet& packet) {
  channel(rank).left = true;
  if (packet.fds.size() != 1) return;
  leavers_.push_back({.rank = rank, .next = std::move(packet.fds.front())});
  packet.fds.clear();
}

void Exchange::settle() {
  for (unsigned i = 0; i < share_.here; ++i) retry_stalled(share_.first + i);
}

void Exchange::serve(unsigned rank, Pace pace) {
  Channel& from = channel(rank);
  if (pace == Pace::to_the_end && from.stalled) {
    Packet stalled = std::move(*from.stalled);
    from.stalled.reset();
    if (!dispatch(rank, std::move(stalled), pace)) return;
  }
  // A rank that ended left at most a socket buffer; its heirs may go on writing, so not for ever.
  const int turns = pace == Pace::bounded ? kPacketsPerTurn : kLastTurns;
  for (int turn = 0; turn < turns && from.state() != Channel::State::over; ++turn) {
    const bool crowded =
        !from.is_remote() && too_many_fds() && from.state() == Channel::State::joined;
    if (from.stalled || (pace == Pace::bounded && (crowded || !may_read(rank)))) return;
    Packet packet;
    const Io got = from.read(packet);
    if (got == Io::again) return;
    if (got == Io::closed) return over(rank, {.how = PH_LAUNCH_CLOSED, .value = 0});
    if (got == Io::malformed || !dispatch(rank, std::move(packet), pace)) {
      if (from.state() == Channel::State::over) return;
      complaints_.push_back(
          fmt::format("rank {} sent the launcher a malformed packet; its channel is closed", rank));
      return over(rank, {.how = PH_LAUNCH_CLOSED, .value = 0}, refusal(PH_LAUNCH_MALFORMED));
    }
  }
}

bool Exchange::forward(unsigned rank, Packet packet, Pace pace) {
  const ph_launch_header& header = packet.header;
  const bool fits = packet.fds.size() <= PH_LAUNCH_MAX_FDS &&
                    header.body_bytes <= PH_LAUNCH_MAX_FORWARD && header.rank < share_.size;
  if (!fits) return false;
  Channel& target = channel(header.rank);
  // No descriptor leaves its host; a rank that was not told so by WELCOME is none of this library.
  if (target.is_remote() && !packet.fds.empty()) return false;
  if (pace == Pace::bounded && !has_room(target)) {
    channel(rank).stalled = std::move(packet);
    return true;
  }
  packet.header.type = PH_LAUNCH_DELIVER;
  packet.header.rank = rank;
  target.queue(std::move(packet));  // dropped if it is gone: GONE tells the sender
  return true;
}

bool Exchange::has_room(const Channel& target) const {
  return target.state() == Channel::State::over ||
         target.queued_count() < kMinQueuedPackets + kQueuedPacketsPerPeer * share_.size;
}

bool Exchange::too_many_fds() const {
  std::size_t held = 0;
  for (const auto& one : locals_) held += one->queued_fds_count();
  return held + PH_LAUNCH_MAX_FDS > fds_limit_;
}

void Exchange::retry_stalled(unsigned rank) {
  std::optional<Packet>& stalled = channel(rank).stalled;
  if (!stalled || !has_room(channel(stalled->header.rank))) return;
  Packet packet = std::move(*stalled);
  stalled.reset();
  (void)forward(rank, std::move(packet), Pace::bounded);
}

}  // namespace photonrun
