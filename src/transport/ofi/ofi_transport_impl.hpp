// The ofi transport as a class; ofi_transport.hpp is what others include. One concern a file:
// ofi_transport.cpp (opening, ending, descriptions), ofi_contact.cpp (endpoint infos, handshakes),
// ofi_traffic.cpp (sending), ofi_memory.cpp (fragments, leases), ofi_rma_endpoints.cpp (by which
// they leave), ofi_imm.cpp (what fragments tell), ofi_locals.cpp (our own memory), ofi_poll.cpp
// (news, ends of peers), ofi_keepalive.cpp (who gets nothing), ofi_sleep.cpp (idle). What it has in
// common with tcp stands in network/network_transport.hpp.
//
// Invariants: a rank never contacted costs one pointer; nothing that a stranger sends changes the
// state of a rank, or is kept; a hello that one says again may change at which of its own addresses
// its rank is answered, until that has proved itself. Reports to the engine are made in poll()
// only.
// Owner: the engine. Threads: as in network/network_transport.hpp; sleep_on() visits the lock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/config.hpp"
#include "base/unique_fd.hpp"
#include "boot/boot.hpp"
#include "transport/network/flusher.hpp"
#include "transport/network/network_transport.hpp"
#include "transport/network/own_side.hpp"
#include "transport/ofi/ofi_endpoint_info.hpp"
#include "transport/ofi/ofi_exposures.hpp"
#include "transport/ofi/ofi_peer.hpp"
#include "transport/ofi/ofi_receives.hpp"
#include "transport/ofi/ofi_transport.hpp"
#include "wire/imm_codec.hpp"

namespace photon::transport::ofi {

// What the lanes of a rank share.
struct OwnSide : network::OwnSide {
  OpenFabric open_fabric;
  std::int64_t give_back_ns = 0;
};

using network::Refusal;
// What is said of who was turned away for that reason; "?" for one that this transport has not.
const char* refusal_text(Refusal why) noexcept;

class OfiTransport final : public network::NetworkTransport {
 public:
  struct Parts {
    std::shared_ptr<OwnSide> own;
    std::unique_ptr<Fabric> fabric;
    std::unique_ptr<Receives> receives;
    std::unique_ptr<MessagePool> messages;  // of all windows
    OfiEndpointInfo endpoint_info;
    std::size_t message_bytes = 0;
    std::size_t window_slots = 0;
    std::uint32_t lane = 0;
  };
  static base::Result<std::unique_ptr<Transport>> open(const base::Config& config, boot::Boot& boot,
                                                       std::shared_ptr<OwnSide> own,
                                                       std::uint32_t lane);
  OfiTransport(const base::Config& config, boot::Boot& boot, Parts parts, network::Wakeup wake);
  ~OfiTransport() override;

  const char* name() const noexcept override { return "ofi"; }

  void cut_off(Rank rank, const std::string& why) noexcept override;

  void kick(Rank rank) noexcept override;
  void poll(Sink& sink) noexcept override;
  bool arrives(Rank rank) const noexcept override;

  Reach reach(Rank rank, std::uint64_t address, std::uint64_t size_bytes) noexcept override;
  bool post(const PostedFragment& fragment) noexcept override;
  std::uint64_t local_granule() const noexcept override;
  base::Result<std::uint64_t> register_local(std::span<const std::byte> memory,
                                             bool is_written) noexcept override;
  void unregister_local(std::uint64_t handle) noexcept override;
  unsigned imm_bits() const noexcept override { return kImmBits; }
  bool has_imm(Rank rank) const noexcept override;
  std::uint64_t imm_room(Rank rank) const noexcept override;
  void quiesce() noexcept override;
  base::Result<std::unique_ptr<Transport>> open_lane(std::uint32_t number,
                                                     boot::Boot& boot) override;

  std::span<RegionEntry> regions() noexcept override { return parts_.own->regions(); }

  void arm() noexcept override;
  SleepOn sleep_on() noexcept override;

  void describe(Rank rank, ph_path& path) override;

  // For tests.
  const OfiEndpointInfo& endpoint_info() const noexcept { return parts_.endpoint_info; }

 private:
  using News = network::News;
  struct CutOff {
    Rank rank = 0;
    std::string why;
  };
  struct Answer {
    Rank rank = 0;
    unsigned looks = 0;  // before it
  };

  // ofi_contact.cpp
  OfiPeer* known(Rank rank) const noexcept override {
    return rank < peers_.size() ? peers_[rank].get() : nullptr;
  }
  OfiPeer& remember(Rank rank) override;
  base::Result<> can_meet(Rank rank) const override;
  base::Result<bool> ask(Rank rank) override { return send_info(rank, OfiEndpointInfo::What::ask); }
  base::Result<bool> send_info(Rank rank, OfiEndpointInfo::What what);
  void take_info(Rank rank, std::span<const std::byte> bytes) override;
  void take_gone(OfiPeer& peer, std::string why);
  void cut_off(OfiPeer& peer, base::Error why);
  void tell_who_is_cut_off();
  void meet(OfiPeer& peer, std::span<const std::byte> at);
  void dial(OfiPeer& peer);
  void repeat_handshake(OfiPeer& peer, std::int64_t now_ns);
  void dial_by_another(OfiPeer& peer, std::int64_t now_ns);
  bool has_endpoint(std::size_t by);
  void opens_none(const base::Error& why);
  bool follow(OfiPeer& peer, std::span<const std::byte> body);
  base::Result<std::uint64_t> seat(OfiPeer& peer, std::span<const std::byte> address);
  void on_handshake(OfiPeer* peer, const MessageHead& head, std::span<const std::byte> body);
  void opened(OfiPeer& peer);
  void refuse(Refusal why) noexcept;

  // ofi_traffic.cpp
  void flush(OfiPeer& peer);
  static bool is_said_again(OfiPeer& peer) noexcept;
  bool is_way_awaited(std::int64_t& since_ns) const noexcept;
  void mute(OfiPeer& peer, std::string why);
  std::size_t compose(OfiPeer& peer, std::span<std::byte> room);
  void wait_for_room(OfiPeer& peer);
  void flush_waiting();
  network::Flusher::Look flush_held();
  bool awaits_word_of_any() noexcept;
  bool has_left_all() const noexcept override;
  void say_bye_to_all();

  // ofi_memory.cpp
  bool has_own_memory(const PostedFragment& fragment) const noexcept;
  void go_on(OfiPeer& peer);
  void answer_done(const Fragments::Slot& slot, ph_status status);
  void fragment_over(const Operation& operation);
  void fragment_failed(const Operation& operation);
  void end_fragments(OfiPeer& peer);
  void say_gone_if_clear(OfiPeer& peer);
  bool may_give_back(const std::vector<Exposures::Holder>& holders) const noexcept;
  void say(OfiPeer& peer, const Word& word);
  bool may_say_word(OfiPeer& peer) const noexcept;
  std::size_t compose_word(OfiPeer& peer, std::span<std::byte> room, MessageHead head);
  bool take_word(OfiPeer& peer, MessageKind kind, std::span<const std::byte> body);
  bool take_back(OfiPeer& peer, std::span<const std::byte> body);
  bool take_tell(OfiPeer& peer, std::span<const std::byte> body);

  // ofi_keepalive.cpp
  void await_confirmation(OfiPeer& peer);
  void check_keepalive(std::int64_t now_ns);
  void ask(OfiPeer& peer);
  void take_answer(OfiPeer& peer, std::uint64_t heard);
  void answer_later(Rank rank);
  void answer_who_asked();

  // ofi_rma_endpoints.cpp
  bool start(OfiPeer& peer, Fragments::Slot& slot, const Fragments::Next& next);
  bool has_our_rma_endpoint();
  void go_by_another(OfiPeer& peer);
  void go_on_stalled();
  void end_our_rma_endpoints();

  // ofi_imm.cpp
  std::optional<std::uint64_t> data_of(const OfiPeer& peer,
                                       const Fragments::Slot& slot) const noexcept;
  void fragment_told(std::uint64_t data);
  bool is_told(OfiPeer& peer, std::uint64_t data);
  ToldBody heard_from(const OfiPeer& peer) const noexcept;
  void end_their_rma_endpoint();
  bool take_end(OfiPeer& peer, std::uint64_t rma_endpoint);
  void read_to_end();

  // ofi_poll.cpp
  bool look();
  void sent(const Operation& operation, bool is_well) noexcept;
  void failed();
  void take_arrived();
  void take(std::span<const std::byte> message);
  void take_open(OfiPeer& peer, const MessageHead& head, std::span<const std::byte> body);
  base::Error departed_error(const OfiPeer& peer) const;
  void take_next(OfiPeer& peer, const MessageHead& head, std::span<const std::byte> body);
  void cut_off_disorder(OfiPeer& peer);
  void receive_boot();
  void boot_gone(Rank rank, const char* why) override;
  void attend(std::int64_t now_ns);
  void attend(OfiPeer& peer, std::int64_t now_ns);
  std::uint64_t most_before_bye() const noexcept;
  void end(OfiPeer& peer, base::Error why);
  void end(Rank rank, base::Error why) override { end(*known(rank), std::move(why)); }
  void end_all(const std::string& why);
  void dispatch(Sink& sink);

  const Parties parties_;
  const wire::ImmCodec imm_codec_;
  Parts parts_;

  std::vector<std::unique_ptr<OfiPeer>> peers_;
  std::vector<OfiPeer*> waiting_;  // have something to send and found no room
  std::vector<OfiPeer*> retried_;
  std::vector<OfiPeer*> unconfirmed_;
  std::int64_t confirmed_ns_ = 0;  // last look at those
  std::vector<Answer> answers_;    // to who asks how far we are
  std::vector<CutOff> cut_off_;    // are to be told
  std::size_t under_way_ = 0;      // messages
  std::int64_t attended_ns_ = 0;
  std::int64_t heard_ns_ = 0;      // of the poll under way
  bool is_behind_ = false;         // it took all that there was room for; more may have arrived
  bool is_retrying_ = false;       // the flusher knows of who waits
  std::uint64_t taken_count_ = 0;  // messages that the provider took, for good
  // Of our fragments: the RMA endpoints by which they leave, as a rule one; who waits for room
  // there; who has ended with some under way, and since when there is such a rank.
  std::vector<std::unique_ptr<RmaEndpoint>> rma_endpoints_;
  std::vector<OfiPeer*> stalled_;
  std::vector<OfiPeer*> restarted_;
  std::size_t lingering_ = 0;
  std::int64_t lingering_ns_ = 0;
  bool has_waiting_ = false;  // some peer may have fragments that have not begun
  bool is_restarting_ = false;
  bool is_ending_rma_endpoint_ = false;
  bool has_no_rma_endpoint_ = false;     // none can be opened
  bool opens_no_more_ = false;           // nor another endpoint or RMA endpoint beside the first
  bool is_ending_theirs_ = false;        // the RMA endpoint by which peers come in
  bool is_dataless_ = false;             // writes bear no data, whatever the provider says
  std::uint64_t completions_count_ = 0;  // that were read
  Exposures exposures_;                  // memory of ours
  std::set<std::uint64_t> locals_;       // handles of our own memory that fragments may use

  bool is_broken_ = false;       // the provider brings nothing any more
  bool is_wait_broken_ = false;  // its descriptor cannot be waited for

  network::Flusher flusher_;  // last: it ends first
};

}  // namespace photon::transport::ofi
