// Ways in: who connects is a pending connection until he has proved to be a rank of this job.
#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "boot/keepalive.hpp"
#include "boot/tcp_side_channel.hpp"

namespace photon::boot {
namespace {

constexpr std::ptrdiff_t kMostPending = 64;  // or the ranks, if they are more

}  // namespace

void TcpSideChannel::accept_pending(std::uint32_t listener) {
  constexpr int kMostAtOnce = 16;
  for (int i = 0; i < kMostAtOnce; ++i)
    if (!accept_one(listener)) return;
}

// False: there are no more now.
bool TcpSideChannel::accept_one(std::uint32_t listener) {
  const int listening = listeners_.all[listener].socket.get();
  base::UniqueFd socket(::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket) {
    if (errno == EINTR || errno == ECONNABORTED) return true;
    if (errno != EMFILE && errno != ENFILE) return false;
    // Left in the queue it would end every sleep, and its rank would wait: let it go.
    spare_.reset();
    socket.reset(::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    const bool came = static_cast<bool>(socket);
    socket.reset();
    spare_.reset(::fcntl(timer_.get(), F_DUPFD_CLOEXEC, 0));
    if (came) refuse(0, "found no descriptor left (ulimit -n)");
    return came;
  }
  tune_connection(socket.get(), config_.tcp_silence_s);
  make_room();
  const std::uint32_t number = next_number_++;
  if (!watch_.add(socket.get(), EPOLLIN, tag(Tagged::in, number))) return true;
  const std::int64_t due_ns = time_.now_ns() + pending_ns_;
  ways_in_.emplace(number, WayIn{.socket = std::move(socket),
                                 .handshake = Handshake::accept(*secret_, parties_),
                                 .due_ns = due_ns,
                                 .frames = {}});
  wake_at(due_ns);
  hear_in(number);  // it may have spoken already
  return true;
}

// Of those who have not said who they are the oldest has had most time.
void TcpSideChannel::make_room() {
  const auto is_pending = [](const auto& entry) {
    return entry.second.state == WayIn::State::pending;
  };
  const auto pending_count = std::ranges::count_if(ways_in_, is_pending);
  if (pending_count < std::max<std::ptrdiff_t>(kMostPending, parties_.size)) return;
  refuse(std::ranges::find_if(ways_in_, is_pending)->first,
         "had to make room for others that had not said who they are");
}

// Bounded, so that one rank's flood does not keep us here: what is left stays in its socket.
void TcpSideChannel::hear_in(std::uint32_t number) {
  constexpr int kMostMessages = 64;
  for (int i = 0; i < kMostMessages; ++i) {
    const auto found = ways_in_.find(number);
    if (found == ways_in_.end()) return;
    WayIn& way = found->second;
    if (way.state == WayIn::State::pending && !hear_pending(number, way)) return;
    const Rank from = way.handshake.from();
    const SideFrameReader::Step step = way.frames.next(way.socket.get());
    switch (step) {
      case SideFrameReader::Step::waits: return;
      case SideFrameReader::Step::ended:
        return end_in(number, "closed its connection without a bye");
      case SideFrameReader::Step::garbage:
        return end_in(number, "sent what no rank of this library sends");
      case SideFrameReader::Step::message:
      case SideFrameReader::Step::bye: break;
    }
    if (way.state == WayIn::State::proven && !seat(number, from)) return;
    if (step == SideFrameReader::Step::bye) {
      peers_[from].left = true;
      peers_[from].why = "has left";
      return tell_gone(from);
    }
    const auto body = way.frames.body();
    if (!leaving_)
      inbox_.push(
          {.from = from, .bytes = {body.begin(), body.end()}, .fds = {}, .is_by_network = true});
  }
}

// Whether it has proved itself.
bool TcpSideChannel::hear_pending(std::uint32_t number, WayIn& way) {
  switch (way.handshake.advance(way.socket.get())) {
    case Handshake::Step::waits: return false;
    case Handshake::Step::proven: break;
    case Handshake::Step::garbage:
    case Handshake::Step::open: refuse(number, "does not speak this protocol"); return false;
    case Handshake::Step::wrong_version:
      PHOTON_LOG(log_, warn, "bootstrap: who connects speaks version %u of the protocol, and we %u",
                 way.handshake.version(), kSideChannelProtocol.version);
      refuse(number, "speaks another version of the protocol");
      return false;
    case Handshake::Step::unexpected:
      refuse(number, "is no rank that was expected here");
      return false;
    case Handshake::Step::wrong_secret:
      refuse(number, "does not know the job's secret");
      return false;
    case Handshake::Step::broken: refuse(number, nullptr); return false;
  }
  if (!way.handshake.welcome(way.socket.get())) {
    refuse(number, nullptr);
    return false;
  }
  way.state = WayIn::State::proven;
  SideFrameWriter bye;
  bye.push(SideFrameKind::bye, {});
  if (leaving_) static_cast<void>(bye.flush(way.socket.get()));
  return true;
}

// A rank that has dialed more than once sends by the connection that it took for open, and never by
// another: so that is the one. False: it has one, or is gone.
bool TcpSideChannel::seat(std::uint32_t number, Rank rank) {
  Peer& peer = peers_[rank];
  if (peer.gone || peer.in != 0 || peer.in_over) {
    refuse(number, "is no rank that was expected here");
    return false;
  }
  peer.in = number;
  ways_in_.at(number).state = WayIn::State::seated;
  return true;
}

void TcpSideChannel::end_in(std::uint32_t number, const char* why) {
  const auto found = ways_in_.find(number);
  const bool was_seated = found->second.state == WayIn::State::seated;
  const bool was_proven = found->second.state == WayIn::State::proven;
  const Rank rank = found->second.handshake.from();
  close_socket(found->second.socket);
  ways_in_.erase(found);
  Peer& peer = peers_[rank];
  if (!was_seated) {  // an attempt that the rank gave up; its end may have been waited for
    if (was_proven && peer.out && peer.out->state == WayOut::State::over) settle(rank);
    return;
  }
  peer.in = 0;
  peer.in_over = true;
  peer.why = why;
  // What waits for an answer of it learns by itself that there is none, and does not try again.
  if (peer.out && peer.out->state == WayOut::State::pausing) return end_out(rank, why);
  settle(rank);
}

// Null: it closed the connection, which is nobody's fault.
void TcpSideChannel::refuse(std::uint32_t number, const char* why) {
  if (const auto found = ways_in_.find(number); found != ways_in_.end()) {
    close_socket(found->second.socket);
    ways_in_.erase(found);
  }
  if (why == nullptr) return;
  if (refused_count_++ == 0)
    PHOTON_LOG(log_, warn,
               "bootstrap: refused a connection to %s that %s; more of the kind are counted",
               listeners_.addresses.text().c_str(), why);
}

}  // namespace photon::boot
