// Messages between ranks that no launcher carries: a datagram socket a rank for those within its
// host; those to other hosts are the TcpSideChannel's. Who is where, the bootstrap that builds on
// this says: CallbackBoot all at once, AddressBoot one rank at a time. Invariant: a message is
// believed only if it carries its key and comes from our user: the job's secret, or where ranks
// introduce themselves the sender's own, which is made of that. Owner: the Context; one thread at a
// time.
//
// A rank, seen from here (each of the two may come first, where addresses are handed around):
//   unknown -- place() --> known;  unknown -- its introduction: on_address() --> known
// A peer within the host; gone is told once, after its last message:
//   silent -send, message-> met -process ended, socket refused, bye-> gone
//
// Who leaves shuts its socket to new messages and answers those it has not read with a bye.
#pragma once

#include <array>
#include <map>
#include <set>
#include <vector>

#include "boot/boot.hpp"
#include "boot/endpoint_info.hpp"
#include "boot/inbox.hpp"
#include "boot/outbox.hpp"
#include "boot/tcp_side_channel.hpp"
#include "boot/watch.hpp"

namespace photon::boot {

class DatagramBoot : public Boot {
 public:
  Rank rank() const override { return place_.rank; }
  std::uint32_t size() const override { return place_.size; }
  const Secret& secret() const override { return secret_; }
  std::uint32_t local_size() const override { return local_size_; }
  bool knows(Rank rank) const override { return rank < known_.size() && known_[rank].is_known; }
  bool passes_descriptors(Rank rank) const override { return known_[rank].near; }
  std::optional<Address> met_at(Rank rank) const override {
    return side_channel_ ? side_channel_->met_at(rank) : std::nullopt;
  }
  base::Result<bool> send(Rank to, std::span<const std::byte> bytes,
                          std::span<const int> fds) override;
  base::Result<std::optional<Message>> receive() override;
  bool idle() const override { return !sends_wait(); }
  base::Result<> leave() override;
  bool has_left(Rank rank) const override;
  int poll_fd() const override { return watch_.fd(); }
  bool collects_alone() const override { return true; }

  // Datagrams that were not from a rank of this job, or made no sense.
  std::uint64_t dropped_count() const { return dropped_count_; }
  // Packets that wait for room at their receiver's socket.
  bool sends_wait() const;

 protected:
  using Place = TcpSideChannel::Place;
  // What everybody begins with.
  struct Parts {
    EndpointInfo own;
    Inbox inbox;
    Watch watch;
    base::UniqueFd socket;  // bound, to the name in the endpoint info
  };
  static base::Result<Parts> make_parts();

  DatagramBoot(Place place, Parts parts);

  // Before anything is sent or received, once: what messages are believed by.
  void trust(const Secret& secret) { secret_ = secret; }
  // From here on the first message to each rank is preceded by this.
  void exchange_addresses_by(std::span<const std::byte> introduction) {
    address_exchange_.assign(introduction.begin(), introduction.end());
  }
  // A rank that has not been known says who it is; false: not believed. Its place is known then.
  // `key`: what it came with, by datagram and so from within the host: it has to be that of the
  // name in the introduction, which others may have read. Null: the TcpSideChannel brought it, and
  // has proved its sender.
  virtual bool on_address(Rank, std::span<const std::byte>, const Secret* /*key*/) { return false; }
  bool is_key_of(const Secret& key, const std::array<std::byte, 16>& name) const;

  // A rank is known from now on; once each.
  void place(Rank rank, const EndpointInfo& endpoint_info, bool near);
  bool is_placed_as(Rank rank, const EndpointInfo& endpoint_info) const {
    return known_[rank].name == endpoint_info.name;
  }
  const EndpointInfo& endpoint_info() const { return own_; }
  // For ranks on other hosts. It is begun by begin_messages().
  base::Result<Addresses> open_side_channel(const base::Config& config);
  base::Result<> begin_messages(std::vector<Addresses> addresses);
  TcpSideChannel* side_channel() { return side_channel_.get(); }
  // Says to somebody within the host that another process is known by its number.
  void refuse(const EndpointInfo& endpoint_info);

 private:
  enum class Seen { silent, met, gone };
  enum class Kind : std::uint32_t { message, bye, introduction, refusal };
  // What of an endpoint info is needed to meet its rank: kept small, there is one for every rank of
  // the job.
  struct Known {
    std::array<std::byte, 16> name{};
    std::uint64_t start_ticks = 0;
    std::uint32_t pid = 0;
    bool is_known = false;
    bool near = false;
    bool same_pids = false;  // of our host and pid namespace
  };
  struct Peer {  // of a rank that we have exchanged messages with
    Seen seen = Seen::silent;
    bool left = false;      // in order
    bool refused = false;   // it knows another process by our number
    bool told = false;      // who we are
    base::UniqueFd socket;  // connected to the peer's, from the first send on
    base::UniqueFd pidfd;
    Outbox outbox;
  };

  EndpointInfo endpoint_info_of(Rank rank) const;
  bool is_gone(Rank rank) const;
  bool has_ended(Rank rank) const;  // by its own word
  Secret key_of(const std::array<std::byte, 16>& name) const;
  base::Result<bool> send_far(Rank to, std::span<const std::byte> bytes);
  base::Result<bool> post(Rank to, Kind kind, const Packet& packet);
  base::Result<> connect_to(Rank to);
  base::Result<> meet(Rank rank);
  base::Result<> drain_socket();
  std::optional<Rank> accept(Arrival arrival, std::span<const std::byte> packet);
  bool is_for_us(const Message& message);
  base::Result<> flush_to(Rank to);
  base::Result<> set_gone(Rank rank);
  base::Result<> set_refused(Rank rank);
  base::Result<> handle(const Ready& ready);

  const Place place_;
  Inbox inbox_;
  Watch watch_;
  base::UniqueFd socket_;
  Secret secret_{};
  std::uint32_t local_size_ = 0;
  EndpointInfo own_;
  std::vector<Known> known_;                 // by rank
  std::map<Rank, Peer> peers_;               // contacted ones of this host
  std::vector<std::byte> address_exchange_;  // empty: ranks know each other without
  std::set<Rank> far_told_;                  // who we are
  std::set<Rank> far_heard_;                 // have said who they are
  std::unique_ptr<TcpSideChannel> side_channel_;
  std::uint64_t dropped_count_ = 0;
  bool leaving_ = false;
};

}  // namespace photon::boot
