// The tcp transport as a class; tcp_transport.hpp is what others include. One concern a file:
// tcp_transport.cpp (opening, ending, descriptions), tcp_contact.cpp (endpoint infos, dialing,
// pending connections), tcp_traffic.cpp (sending, fragments, what frames do), tcp_poll.cpp (news),
// tcp_ends.cpp (what peers are told of an end), tcp_keepalive.cpp (hosts that vanished),
// tcp_sleep.cpp (idle). What it has in common with ofi stands in network/network_transport.hpp.
//
// Invariants: a rank never contacted costs one pointer. Who has not proved to know the job's secret
// costs a PendingConnection, and there are at most kMostPending. Lines become visible in poll()
// only. Owner: the engine. Threads: as in network/network_transport.hpp. sleep_on() takes no lock
// either: it touches only descriptors and the words that are atomic.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/config.hpp"
#include "base/unique_fd.hpp"
#include "boot/boot.hpp"
#include "boot/keepalive.hpp"
#include "transport/network/flusher.hpp"
#include "transport/network/network_transport.hpp"
#include "transport/network/own_side.hpp"
#include "transport/tcp/tcp_endpoint_info.hpp"
#include "transport/tcp/tcp_peer.hpp"
#include "transport/tcp/tcp_transport.hpp"

namespace photon::transport::tcp {

// What the lanes of a rank share.
struct OwnSide : network::OwnSide {
  std::int64_t pending_ns = 0;  // as TcpOptions has it
};

using network::Refusal;
// What is said of who was turned away for that reason; "?" for one that this transport has not.
const char* refusal_text(Refusal why) noexcept;

class TcpTransport final : public network::NetworkTransport {
 public:
  struct Parts {
    std::shared_ptr<OwnSide> own;
    boot::Listeners listeners;
    base::UniqueFd epoll;
    base::UniqueFd spare;  // to be closed when no descriptor is left for a pending connection
    std::uint32_t lane = 0;
  };
  static base::Result<std::unique_ptr<Transport>> open(const base::Config& config, boot::Boot& boot,
                                                       std::shared_ptr<OwnSide> own,
                                                       std::uint32_t lane);
  TcpTransport(const base::Config& config, boot::Boot& boot, Parts parts, network::Wakeup wake);
  ~TcpTransport() override;

  const char* name() const noexcept override { return "tcp"; }

  void cut_off(Rank rank, const std::string& why) noexcept override;

  void kick(Rank rank) noexcept override;
  void kick_later(Rank rank) noexcept override;
  void poll(Sink& sink) noexcept override;

  Reach reach(Rank rank, std::uint64_t address, std::uint64_t size_bytes) noexcept override;
  bool post(const PostedFragment& fragment) noexcept override;
  bool has_imm(Rank /*rank*/) const noexcept override { return true; }
  void quiesce() noexcept override;
  bool posts_alone(Rank /*rank*/) const noexcept override { return false; }
  base::Result<std::unique_ptr<Transport>> open_lane(std::uint32_t number,
                                                     boot::Boot& boot) override;

  std::span<RegionEntry> regions() noexcept override { return parts_.own->regions(); }

  void arm() noexcept override;
  SleepOn sleep_on() noexcept override;

  void describe(Rank rank, ph_path& path) override;

  // For tests: where it listens, and how many pending connections were refused for this.
  const Address& address() const noexcept { return endpoint_info_.addresses.front(); }

 private:
  class FramePort;
  struct PendingConnection {
    base::UniqueFd socket;
    Handshake handshake;
    std::int64_t until_ns = 0;
  };
  using News = network::News;
  enum class Watched : std::uint32_t { listener, peer, pending };

  // tcp_contact.cpp
  TcpPeer* known(Rank rank) const noexcept override {
    return rank < peers_.size() ? peers_[rank].get() : nullptr;
  }
  TcpPeer& remember(Rank rank) override;
  base::Result<bool> ask(Rank rank) override { return send_info(rank, endpoint_info_); }
  base::Result<bool> send_info(Rank rank, const TcpEndpointInfo& endpoint_info);
  void take_info(Rank rank, std::span<const std::byte> bytes) override;
  void dial(TcpPeer& peer);
  void dial_failed(TcpPeer& peer, int trouble);
  void give_up(TcpPeer& peer);
  void shake_hands(TcpPeer& peer);
  void opened(TcpPeer& peer);
  void accept_pending(std::uint32_t listener);
  bool accept_one(std::uint32_t listener);
  void hear_pending(std::uint32_t number);
  void admit_pending(std::uint32_t number, PendingConnection& pending);
  void refuse(std::uint32_t number, Refusal why);
  void count_refusal(Refusal why) noexcept;
  void close_socket(base::UniqueFd& socket) noexcept;
  bool watch(int socket, std::uint32_t events, Watched what, std::uint32_t number) noexcept;

  // tcp_traffic.cpp
  void hold_or_flush(TcpPeer& peer, bool is_urgent);
  void hold(TcpPeer& peer);
  void flush(TcpPeer& peer);
  bool flush_due(std::int64_t now_ns);
  network::Flusher::Look flush_held();
  void arm(TcpPeer& peer, bool on) noexcept;
  bool has_left_all() const noexcept override;

  // tcp_keepalive.cpp
  void await_confirmation(TcpPeer& peer);
  void check_keepalive(std::int64_t now_ns);
  std::int64_t silence_ns() const noexcept {
    return static_cast<std::int64_t>(config_.tcp_silence_s) * 1'000'000'000;
  }
  base::Error unconfirmed_ns(Rank rank) const;

  // tcp_ends.cpp
  void fell_silent(TcpPeer& peer);
  void tell_cut_off(Rank rank, const std::string& why);
  void take_cut_off(TcpPeer& peer, const TcpEndpointInfo& endpoint_info);
  base::Error cut_off_error(Rank rank, const std::string& words) const;
  void send_or_keep(Rank rank, const TcpEndpointInfo& endpoint_info);
  void send_kept_infos();
  void part(TcpPeer& peer) noexcept;
  void heard_end(TcpPeer& peer, Inlet::Got got, int trouble);
  void await_reason(TcpPeer& peer);
  base::Error departed_error(const TcpPeer& peer) const;
  base::Error reset_error(Rank rank) const;
  void end(TcpPeer& peer, base::Error why);
  void end(Rank rank, base::Error why) override { end(*known(rank), std::move(why)); }

  // tcp_poll.cpp
  void look_at_hot(Sink& sink);
  bool awaits_answer(std::int64_t now_ns) const noexcept;
  void receive(TcpPeer& peer, Sink& sink);
  void look_at_sockets(Sink* sink);
  void peer_event(TcpPeer& peer, std::uint32_t events, Sink* sink);
  void receive_boot();
  void boot_gone(Rank rank, const char* why) override;
  void attend(std::int64_t now_ns);
  void attend(TcpPeer& peer, std::int64_t now_ns);
  void tell_written();
  void dispatch(Sink& sink);
  void heat(Rank rank);
  void unwatch(TcpPeer& peer) noexcept;
  bool watch_again(TcpPeer& peer) noexcept;

  const Parties parties_;
  Parts parts_;
  TcpEndpointInfo endpoint_info_;

  std::vector<std::unique_ptr<TcpPeer>> peers_;
  std::vector<TcpPeer*> held_;         // with something that waits to be sent
  std::vector<TcpPeer*> unconfirmed_;  // the peer's kernel may not have all that was sent
  std::vector<Rank> hot_;  // whose sockets are read at every poll: kMostHot, or one more
  std::vector<std::pair<Rank, TcpEndpointInfo>> kept_infos_;  // the bootstrap had no room for them
  std::map<std::uint32_t, PendingConnection> pending_;
  std::uint32_t next_pending_ = 0;
  std::vector<News> written_;  // to be told after what else came
  Inlet::Buffer inlet_buffer_;
  std::uint64_t polls_count_ = 0;  // since the last look at all sockets
  std::int64_t looked_ns_ = 0;     // at all sockets
  std::int64_t attended_ns_ = 0;
  std::int64_t confirmed_ns_ = 0;  // last look at unconfirmed_
  bool has_told_ = false;          // something, in this poll
  bool is_flusher_ = false;        // who holds the lock is none of the engine's threads

  network::Flusher flusher_;  // last: it ends first
};

}  // namespace photon::transport::tcp
