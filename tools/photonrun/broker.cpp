#include "broker.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace photonrun {
namespace {

constexpr std::size_t kMinQueuedPackets = 1024;  // per rank, and some for each peer on top
constexpr std::size_t kQueuedPacketsPerPeer = 16;
constexpr int kPacketsPerTurn = 64;

template <class T>
std::span<const std::byte> bytes_of(const T& object) {
  return std::as_bytes(std::span{&object, 1});
}

Packet refusal(ph_launch_refusal reason, std::uint64_t sequence = 0) {
  const ph_launch_refused body{.reason = reason, .version = PH_LAUNCH_VERSION};
  return make_packet({.type = PH_LAUNCH_REFUSED, .sequence = sequence}, bytes_of(body));
}

Packet share(const Packet& packet) { return {.header = packet.header, .body = packet.body}; }

}  // namespace

Broker::Broker(unsigned size, std::size_t fds_limit)
    : channels_(size), gone_(size), contributions_(size), fds_limit_(fds_limit) {
  if (::getrandom(secret_.data(), secret_.size(), 0) < 0) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
}

// Two entries a rank: its channel, its process.
void Broker::want(std::vector<pollfd>& entries) {
  first_entry_ = entries.size();
  const bool crowded = too_many_fds();
  for (const Channel& channel : channels_) {
    short events = 0;
    // HELLO is always read: what crowds us may wait for the rank that says it.
    const bool reading = !crowded || channel.state() == Channel::State::waiting;
    if (reading && !channel.stalled) events |= POLLIN;
    if (channel.wants_output()) events |= POLLOUT;
    // Without events poll() would still report a hang-up, again and again.
    entries.push_back({.fd = events ? channel.socket() : -1, .events = events, .revents = 0});
    entries.push_back({.fd = channel.pidfd(), .events = POLLIN, .revents = 0});
  }
}

void Broker::handle(const std::vector<pollfd>& entries) {
  for (unsigned rank = 0; rank < channels_.size(); ++rank) {
    const pollfd& socket = entries[first_entry_ + 2 * rank];
    const pollfd& process = entries[first_entry_ + 2 * rank + 1];
    if (socket.revents & (POLLOUT | POLLHUP | POLLERR)) channels_[rank].flush();
    const bool ended = process.revents != 0 && channels_[rank].state() == Channel::State::joined;
    if (ended) {
      serve(rank, Pace::to_the_end);
      over(rank, {.how = PH_LAUNCH_CLOSED, .value = 0});
    } else if ((socket.revents & ~POLLOUT) != 0) {
      serve(rank, Pace::bounded);
    }
  }
  retry_stalled();
}

void Broker::rank_ended(unsigned rank, ph_launch_gone how) {
  serve(rank, Pace::to_the_end);
  over(rank, how);
}

void Broker::serve(unsigned rank, Pace pace) {
  Channel& channel = channels_[rank];
  if (pace == Pace::to_the_end && channel.stalled) {
    Packet stalled = std::move(*channel.stalled);
    channel.stalled.reset();
    if (!dispatch(rank, std::move(stalled), pace)) return;
  }
  // A rank that ended left at most a socket buffer; its heirs may go on writing, so not for ever.
  const int turns = pace == Pace::bounded ? kPacketsPerTurn : 4096;
  for (int turn = 0; turn < turns && channel.state() != Channel::State::over; ++turn) {
    const bool crowded = too_many_fds() && channel.state() == Channel::State::joined;
    if (channel.stalled || (pace == Pace::bounded && crowded)) return;
    Packet packet;
    const Io got = channel.read(packet);
    if (got == Io::again) return;
    if (got == Io::closed) return over(rank, {.how = PH_LAUNCH_CLOSED, .value = 0});
    if (got == Io::malformed || !dispatch(rank, std::move(packet), pace)) {
      if (channel.state() == Channel::State::over) return;
      complaints_.push_back(
          fmt::format("rank {} sent the launcher a malformed packet; its channel is closed", rank));
      return over(rank, {.how = PH_LAUNCH_CLOSED, .value = 0}, refusal(PH_LAUNCH_MALFORMED));
    }
  }
}

// False: malformed.
bool Broker::dispatch(unsigned rank, Packet packet, Pace pace) {
  const ph_launch_header& header = packet.header;
  if (header.version != PH_LAUNCH_VERSION) {
    over(rank, {.how = PH_LAUNCH_CLOSED, .value = 0}, refusal(PH_LAUNCH_WRONG_VERSION));
    return false;
  }
  if (header.type == PH_LAUNCH_HELLO) return hello(rank, std::move(packet));
  if (channels_[rank].state() != Channel::State::joined) return false;
  if (header.type == PH_LAUNCH_FORWARD) return forward(rank, std::move(packet), pace);
  if (header.type == PH_LAUNCH_LEAVE) return leave(rank, packet);
  return header.type == PH_LAUNCH_GATHER && gather(rank, std::move(packet));
}

bool Broker::hello(unsigned rank, Packet packet) {
  Channel& channel = channels_[rank];
  if (packet.header.body_bytes != 0 || packet.fds.size() > 1) return false;
  if (channel.state() == Channel::State::joined) {
    channel.queue(refusal(PH_LAUNCH_TAKEN));
    return true;
  }
  const auto size = static_cast<std::uint32_t>(channels_.size());
  ph_launch_welcome body{.rank = rank, .size = size, .local_size = size};
  std::ranges::copy(secret_, body.secret);
  Fd pidfd = packet.fds.empty() ? Fd() : std::move(packet.fds.front());
  channel.join(make_packet({.type = PH_LAUNCH_WELCOME}, bytes_of(body)), std::move(pidfd));
  for (unsigned peer = 0; peer < gone_.size(); ++peer) {
    if (gone_[peer].told) channel.queue(gone_packet(peer));
  }
  return true;
}

bool Broker::forward(unsigned rank, Packet packet, Pace pace) {
  const ph_launch_header& header = packet.header;
  const bool fits = header.rank < channels_.size() && packet.fds.size() <= PH_LAUNCH_MAX_FDS &&
                    header.body_bytes <= PH_LAUNCH_MAX_FORWARD;
  if (!fits) return false;
  Channel& target = channels_[header.rank];
  if (pace == Pace::bounded && !has_room(target)) {
    channels_[rank].stalled = std::move(packet);
    return true;
  }
  packet.header.type = PH_LAUNCH_DELIVER;
  packet.header.rank = rank;
  target.queue(std::move(packet));  // dropped if it is gone: GONE tells the sender
  return true;
}

bool Broker::gather(unsigned rank, Packet packet) {
  Channel& channel = channels_[rank];
  const bool in_turn = packet.header.sequence == sequence_ && channel.gathers == sequence_ - 1 &&
                       packet.fds.empty() && !channel.has_queued(PH_LAUNCH_GATHERED);
  if (!in_turn) return false;
  channel.gathers = sequence_;
  contributions_[rank] = std::move(packet.body);
  if (++contributed_count_ == channels_.size()) complete_gather();
  return true;
}

bool Broker::leave(unsigned rank, const Packet& packet) {
  channels_[rank].left = true;
  return packet.header.body_bytes == 0 && packet.fds.empty();
}

void Broker::complete_gather() {
  if (sizes_agree()) {
    const std::size_t size_bytes = contributions_.front()->size();
    const std::size_t ranks = channels_.size();
    const std::size_t per_chunk = size_bytes == 0 ? ranks : PH_LAUNCH_MAX_GATHER / size_bytes;
    for (std::size_t first = 0; first < ranks; first += per_chunk) {
      send_chunk(static_cast<unsigned>(first),
                 static_cast<unsigned>(std::min(per_chunk, ranks - first)));
    }
  } else {
    for (Channel& channel : channels_) channel.queue(refusal(PH_LAUNCH_SIZES_DIFFER, sequence_));
  }
  for (auto& contribution : contributions_) contribution.reset();
  contributed_count_ = 0;
  ++sequence_;
}

void Broker::send_chunk(unsigned first, unsigned count) {
  Bytes body;
  for (unsigned rank = first; rank < first + count; ++rank) {
    body.insert(body.end(), contributions_[rank]->begin(), contributions_[rank]->end());
  }
  const Packet chunk = make_packet(
      {.type = PH_LAUNCH_GATHERED, .rank = first, .count = count, .sequence = sequence_}, body);
  for (Channel& channel : channels_) channel.queue(share(chunk));
}

bool Broker::sizes_agree() const {
  return std::ranges::all_of(contributions_, [this](const auto& contribution) {
    return contribution->size() == contributions_.front()->size();
  });
}

void Broker::over(unsigned rank, ph_launch_gone how, std::optional<Packet> last_word) {
  channels_[rank].finish(std::move(last_word));
  if (gone_[rank].told) return;
  if (channels_[rank].left) how = {.how = PH_LAUNCH_LEFT, .value = 0};
  gone_[rank] = {.told = true, .how = how};
  for (unsigned peer = 0; peer < channels_.size(); ++peer) {
    // Who joins later hears it then.
    if (channels_[peer].state() == Channel::State::joined) channels_[peer].queue(gone_packet(rank));
  }
}

Packet Broker::gone_packet(unsigned rank) const {
  return make_packet({.type = PH_LAUNCH_GONE, .rank = rank, .sequence = channels_[rank].gathers},
                     bytes_of(gone_[rank].how));
}

bool Broker::has_room(const Channel& channel) const {
  return channel.state() == Channel::State::over ||
         channel.queued_count() < kMinQueuedPackets + kQueuedPacketsPerPeer * channels_.size();
}

bool Broker::too_many_fds() const {
  std::size_t held = 0;
  for (const Channel& channel : channels_) held += channel.queued_fds_count();
  return held + PH_LAUNCH_MAX_FDS > fds_limit_;
}

void Broker::retry_stalled() {
  for (unsigned rank = 0; rank < channels_.size(); ++rank) {
    std::optional<Packet>& stalled = channels_[rank].stalled;
    if (!stalled || !has_room(channels_[stalled->header.rank])) continue;
    Packet packet = std::move(*stalled);
    stalled.reset();
    (void)forward(rank, std::move(packet), Pace::bounded);
  }
}

}  // namespace photonrun
