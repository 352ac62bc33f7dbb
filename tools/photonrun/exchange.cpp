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

Exchange::Exchange(const Share& share, std::shared_ptr<HeldFds> held)
    : share_(share), held_(std::move(held)) {
  for (unsigned i = 0; i < share.here; ++i)
    locals_.push_back(std::make_unique<LocalChannel>(*held_));
}

// Entries for what is open and waited for alone: poll() takes no more than files may be open.
void Exchange::want(std::vector<pollfd>& entries) {
  wanted_.clear();
  const bool crowded = too_many_fds();
  for (unsigned i = 0; i < share_.here; ++i) {
    const LocalChannel& one = *locals_[i];
    if (!one.is_open()) continue;
    short events = 0;
    // HELLO is always read: what crowds us may wait for the rank that says it.
    const bool reading = !crowded || one.state() == Channel::State::waiting;
    if (reading && !one.stalled && may_read(share_.first + i)) events |= POLLIN;
    if (one.wants_output()) events |= POLLOUT;
    Wanted wanted{.rank = share_.first + i};
    const auto add = [&entries](int fd, short what) {
      entries.push_back({.fd = fd, .events = what, .revents = 0});
      return entries.size() - 1;
    };
    // Without events poll() would still report a hang-up, again and again.
    if (events != 0) wanted.socket = add(one.socket(), events);
    if (one.pidfd() >= 0) wanted.process = add(one.pidfd(), POLLIN);
    if (wanted.socket != kNone || wanted.process != kNone) wanted_.push_back(wanted);
  }
}

void Exchange::handle(const std::vector<pollfd>& entries) {
  const auto said = [&entries](std::size_t at) {
    return at == kNone ? short{0} : entries[at].revents;
  };
  for (const Wanted& wanted : std::exchange(wanted_, {})) {
    LocalChannel& one = local(wanted.rank);
    const short socket = said(wanted.socket);
    if (socket & (POLLOUT | POLLHUP | POLLERR)) one.flush();
    if (said(wanted.process) != 0 && one.state() != Channel::State::over) {
      serve(wanted.rank, Pace::to_the_end);
      over(wanted.rank, {.how = PH_LAUNCH_CLOSED, .value = 0});
    } else if ((socket & ~POLLOUT) != 0) {
      serve(wanted.rank, Pace::bounded);
    }
  }
  settle();
}

void Exchange::rank_ended(unsigned rank, ph_launch_gone how) {
  serve(rank, Pace::to_the_end);
  over(rank, how);
}

bool Exchange::is_over() const {
  return std::ranges::all_of(locals_,
                             [](const auto& one) { return one->state() == Channel::State::over; });
}

bool Exchange::take_leave(unsigned rank, Packet& packet) {
  Channel& from = channel(rank);
  const bool is_remote = from.is_remote();
  const bool fits = !from.left && packet.header.body_bytes == 0 &&
                    packet.fds.size() <= (is_remote ? 0U : 1U) &&
                    packet.header.count <= (is_remote ? 1U : 0U);
  if (!fits) return false;
  from.left = true;
  report({.kind = Report::Kind::left, .rank = rank});
  from.has_next = is_remote ? packet.header.count == 1 : !packet.fds.empty();
  if (!from.has_next) return true;
  Leaver leaver{.rank = rank, .comes = true, .next = {}, .pidfd = {}};
  if (!is_remote) {
    leaver.next = std::move(packet.fds.front());
    leaver.pidfd = local(rank).copy_pidfd();
    packet.fds.clear();
  }
  leavers_.push_back(std::move(leaver));
  return true;
}

void Exchange::note_over(unsigned rank) {
  if (!channel(rank).has_next)
    leavers_.push_back({.rank = rank, .comes = false, .next = {}, .pidfd = {}});
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

void Exchange::retry_stalled(unsigned rank) {
  std::optional<Packet>& stalled = channel(rank).stalled;
  if (!stalled || !has_room(channel(stalled->header.rank))) return;
  Packet packet = std::move(*stalled);
  stalled.reset();
  (void)forward(rank, std::move(packet), Pace::bounded);
}

}  // namespace photonrun
