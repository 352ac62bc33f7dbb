#include "router.hpp"

#include <algorithm>
#include <cstring>

namespace photonrun {
namespace {

Packet share_of(const Packet& packet) {
  return {.header = packet.header, .body = packet.body, .fds = {}, .from_host = false};
}

}  // namespace

Router::Router(const Share& share, std::shared_ptr<HeldFds> held, const Term& term)
    : Exchange(share, std::move(held)), gone_(share.size), contributions_(share.size), term_(term) {
  runs_.add(share.here);
}

void Router::add_host(const Share& host, HostConnection& connection) {
  for (unsigned i = 0; i < host.here; ++i) {
    const Place place{.generation = term_.generation, .rank = host.first + i};
    remotes_.push_back(std::make_unique<RemoteChannel>(place, connection));
  }
  hosts_.push_back(host);
  runs_.add(host.here);
}

RemoteChannel* Router::remote(unsigned rank) {
  const bool is_remote = rank >= share().here && rank < share().size;
  return is_remote ? remotes_[rank - share().here].get() : nullptr;
}

bool Router::handle_frame(Frame frame) {
  const FrameHead head = frame.head;
  RemoteChannel* const from = remote(head.rank);
  if (from == nullptr) return false;
  switch (head.kind) {
    case FrameKind::packet: return from->arrived(packet_of(std::move(frame)));
    case FrameKind::taken: return from->taken(head.value);
    case FrameKind::closed: from->closed(); return true;
    default: return false;
  }
}

bool Router::is_over() const {
  return Exchange::is_over() && std::ranges::all_of(remotes_, [](const auto& one) {
           return one->state() == Channel::State::over;
         });
}

Channel& Router::channel(unsigned rank) {
  if (RemoteChannel* const found = remote(rank)) return *found;
  return local(rank);
}

// Serves what the connections brought, all of it: no descriptor would wake us for the rest. A rank
// that ends by that makes room as well, so those of this host are looked at after it.
void Router::settle() {
  for (unsigned rank = share().here; rank < share().size; ++rank) {
    retry_stalled(rank);
    while (remote(rank)->has_arrivals() && !remote(rank)->stalled) serve(rank, Pace::bounded);
  }
  Exchange::settle();
}

bool Router::dispatch(unsigned rank, Packet packet, Pace pace) {
  const ph_launch_header& header = packet.header;
  if (header.version != PH_LAUNCH_VERSION) {
    over(rank, {.how = PH_LAUNCH_CLOSED, .value = 0}, refusal(PH_LAUNCH_WRONG_VERSION));
    return false;
  }
  if (header.type == PH_LAUNCH_HELLO) return hello(rank, std::move(packet));
  if (channel(rank).state() != Channel::State::joined) return false;
  if (header.type == PH_LAUNCH_FORWARD) return forward(rank, std::move(packet), pace);
  if (header.type == PH_LAUNCH_LEAVE) return take_leave(rank, packet);
  if (header.type == PH_LAUNCH_BLAME) return take_blame(rank, packet);
  return header.type == PH_LAUNCH_GATHER && gather(rank, std::move(packet));
}

bool Router::take_blame(unsigned rank, const Packet& packet) {
  const unsigned other = packet.header.rank;
  if (other >= share().size || packet.header.body_bytes != 0 || !packet.fds.empty()) return false;
  report({.kind = Report::Kind::blames, .rank = rank, .other = other});
  return true;
}

bool Router::hello(unsigned rank, Packet packet) {
  Channel& from = channel(rank);
  if (packet.header.body_bytes != 0 || packet.fds.size() > 1) return false;
  if (from.state() == Channel::State::joined) {
    from.queue(refusal(PH_LAUNCH_TAKEN));
    return true;
  }
  report({.kind = Report::Kind::joined, .rank = rank});
  Fd pidfd = packet.fds.empty() ? Fd() : std::move(packet.fds.front());
  from.join(welcome_packet(rank), std::move(pidfd));
  for (unsigned peer = 0; peer < gone_.size(); ++peer) {
    if (gone_[peer].told) from.queue(gone_packet(peer));
  }
  return true;
}

Packet Router::welcome_packet(unsigned rank) {
  const Share& host = host_of(rank);
  ph_launch_welcome body{.rank = rank,
                         .size = share().size,
                         .local_size = host.here,
                         .local_first = host.first,
                         .secret = {}};
  // The secret of a rank elsewhere is filled in by its photonrun: no network sees it.
  if (!channel(rank).is_remote()) std::ranges::copy(term_.secret, body.secret);
  Bytes bytes(sizeof body);
  std::memcpy(bytes.data(), &body, sizeof body);
  const auto runs = std::as_bytes(runs_.list());
  bytes.insert(bytes.end(), runs.begin(), runs.end());
  return make_packet({.type = PH_LAUNCH_WELCOME}, bytes);
}

bool Router::gather(unsigned rank, Packet packet) {
  Channel& from = channel(rank);
  const bool in_turn = packet.header.sequence == sequence_ && from.gathers == sequence_ - 1 &&
                       packet.fds.empty() && !from.has_queued(PH_LAUNCH_GATHERED);
  if (!in_turn) return false;
  from.gathers = sequence_;
  contributions_[rank] = std::move(packet.body);
  if (++contributed_count_ == share().size) complete_gather();
  return true;
}

void Router::complete_gather() {
  if (sizes_agree()) {
    const std::size_t size_bytes = contributions_.front()->size();
    const std::size_t ranks = share().size;
    const std::size_t per_chunk = size_bytes == 0 ? ranks : PH_LAUNCH_MAX_GATHER / size_bytes;
    for (std::size_t first = 0; first < ranks; first += per_chunk) {
      send_chunk(static_cast<unsigned>(first),
                 static_cast<unsigned>(std::min(per_chunk, ranks - first)));
    }
  } else {
    tell_all(refusal(PH_LAUNCH_SIZES_DIFFER, sequence_));
  }
  for (auto& contribution : contributions_) contribution.reset();
  contributed_count_ = 0;
  ++sequence_;
}

void Router::send_chunk(unsigned first, unsigned count) {
  Bytes body;
  for (unsigned rank = first; rank < first + count; ++rank) {
    body.insert(body.end(), contributions_[rank]->begin(), contributions_[rank]->end());
  }
  tell_all(make_packet(
      {.type = PH_LAUNCH_GATHERED, .rank = first, .count = count, .sequence = sequence_}, body));
}

bool Router::sizes_agree() const {
  return std::ranges::all_of(contributions_, [this](const auto& contribution) {
    return contribution->size() == contributions_.front()->size();
  });
}

void Router::over(unsigned rank, ph_launch_gone how, std::optional<Packet> last_word) {
  channel(rank).finish(std::move(last_word));
  if (gone_[rank].told) return;
  if (channel(rank).left) how = {.how = PH_LAUNCH_LEFT, .value = 0};
  gone_[rank] = {.told = true, .how = how};
  note_over(rank);
  for (unsigned peer = 0; peer < share().size; ++peer) {
    // Who joins later hears it then.
    if (channel(peer).state() == Channel::State::joined) channel(peer).queue(gone_packet(rank));
  }
}

void Router::tell_all(const Packet& packet) {
  for (unsigned rank = 0; rank < share().size; ++rank) channel(rank).queue(share_of(packet));
}

Packet Router::gone_packet(unsigned rank) {
  return make_packet({.type = PH_LAUNCH_GONE, .rank = rank, .sequence = channel(rank).gathers},
                     bytes_of(gone_[rank].how));
}

const Share& Router::host_of(unsigned rank) const {
  const auto found =
      std::ranges::find_if(hosts_, [rank](const Share& host) { return host.has(rank); });
  return found == hosts_.end() ? share() : *found;
}

}  // namespace photonrun
