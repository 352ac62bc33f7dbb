// Messages of the bootstrap between hosts, by TCP: docs/bootstrap.md has the argument. One file a
// concern: tcp_side_channel.cpp (opening, sending, leaving, ends of ranks),
// tcp_side_channel_dial.cpp (the ways out), tcp_side_channel_pending.cpp (who comes in),
// tcp_side_channel_clock.cpp (deadlines and silent hosts).
//
//   a way out:  dialing -- connected --> handshake -- welcome --> open -- bye, end --> over
//                  ^  | no answer          | thrown out                                 ^
//                  |  v                    v                                            |
//                  pausing  <--------------+-- six times no answer, no listener, no proof +
//     Each of its addresses is dialed in turn before that counts once.
//   a way in:   pending -- hello, proof --> proven -- first message or bye --> admitted --> over
//                  +-- garbage, silence, no proof, too many --> refused, counted
//   a rank:     unknown -- a way out, or one admitted --> known -- no way is left, or it said on
//               its way out that it leaves --> gone: told once, after its last message
//
// Invariants: what a rank sends to another one goes by its own way out and by no other, so it stays
// in order; nothing is sent before the welcome, nothing is believed before the proof. Nothing here
// waits: what has to be waited for is in the Watch.
// Owner: a DatagramBoot, whose Watch, Inbox and secret outlive it. Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/config.hpp"
#include "base/log.hpp"
#include "base/time_source.hpp"
#include "boot/handshake.hpp"
#include "boot/inbox.hpp"
#include "boot/net_address.hpp"
#include "boot/side_frame.hpp"
#include "boot/tries.hpp"
#include "boot/watch.hpp"

namespace photon::boot {

// Who speaks another version is thrown out, and tried again and again: so endpoint infos and
// addresses, which come before, change theirs along with it (kInfoVersion, kBlobVersion), and tell
// both.
inline constexpr Protocol kSideChannelProtocol{0x67'73'6d'74'6f'6f'62'70ULL, 1};  // "pbootmsg"

class TcpSideChannel {
 public:
  struct Place {
    Rank rank = 0;
    std::uint32_t size = 0;
    // Who connects is sent away if it has not proved to be a rank by then.
    std::int64_t pending_ns = 10'000'000'000;
    base::TimeSource time = {};  // by which all deadlines are kept
  };

  // Listens from now on. PH_ERR_CONFIG: no such interface, or a build that cannot prove.
  static base::Result<std::unique_ptr<TcpSideChannel>> open(const base::Config& config, Place place,
                                                            Watch& watch, Inbox& inbox);
  ~TcpSideChannel();
  TcpSideChannel(const TcpSideChannel&) = delete;
  TcpSideChannel& operator=(const TcpSideChannel&) = delete;

  const Addresses& addresses() const { return listeners_.addresses; }
  const Address& address() const { return addresses().front(); }
  // Once, before anything else: by rank, where the others listen. Fails if the Watch has no room.
  base::Result<> begin(const Secret& secret, std::vector<Addresses> addresses);

  // Where one listens, if it is known only now: before anything is sent to it.
  void set_addresses(Rank rank, const Addresses& addresses) { addresses_[rank] = addresses; }
  // By which that rank and we have met.
  std::optional<Address> met_at(Rank rank) const;
  // Nothing of that rank is wanted any more: it is gone.
  void expel(Rank rank, const char* why);

  // As Boot::send().
  base::Result<bool> send(Rank to, std::span<const std::byte> bytes);
  // Something of ours in the Watch is ready: messages and ends go to the Inbox.
  void handle(const Ready& ready);
  static constexpr bool is_ours(std::uint64_t tag) { return (tag & kOurs) != 0; }
  // Nothing that was sent waits for its socket.
  bool idle() const;
  // As Boot::leave().
  void leave();
  bool has_left(Rank rank) const;
  // Connections of those who did not prove to be a rank of this job.
  std::uint64_t refused_count() const { return refused_count_; }

 private:
  static constexpr std::uint64_t kOurs = 1ULL << 63;
  enum class Tagged : std::uint32_t { listener, clock, out, in };
  static std::uint64_t tag(Tagged what, std::uint32_t number) {
    return kOurs | std::uint64_t{static_cast<std::uint32_t>(what)} << 32 | number;
  }

  struct WayOut {
    enum class State : std::uint8_t { pausing, dialing, handshake, open, over };
    State state = State::pausing;
    base::UniqueFd socket;
    std::optional<Handshake> handshake;
    Tries tries;  // begun with the first attempt
    SideFrameWriter frames;
    SideFrameReader answers;  // a bye, if any
    unsigned failed = 0;      // rounds through its addresses
    unsigned unanswered = 0;  // those that tell of a rank that is out of reach
    // pausing: dials then; dialing: gives up then; handshake: so, if other addresses are left
    std::int64_t due_ns = 0;
    std::int64_t unreached_ns = 0;   // since then nobody has answered there; 0
    std::int64_t answered_ns = 0;    // what that was before somebody answered who may be a stranger
    std::int64_t owes_since_ns = 0;  // the other kernel an answer; 0: nothing
    bool awaits_room = false;        // in the socket

    // Who answers says nothing, and others are left. After our proof it is that rank for sure.
    bool may_try_another() const {
      return state == State::handshake && tries.is_hurried() && !handshake->has_proved();
    }
  };
  struct WayIn {
    enum class State : std::uint8_t { pending, proven, seated };
    State state = State::pending;
    base::UniqueFd socket;
    Handshake handshake;
    std::int64_t due_ns = 0;  // a pending connection has to have proved itself by then
    SideFrameReader frames;
  };
  struct Peer {
    std::unique_ptr<WayOut> out;
    std::uint32_t in = 0;  // number of the way that is seated; 0: none
    bool in_over = false;
    bool left = false;
    bool gone = false;
    const char* why = "has ended";
  };

  TcpSideChannel(const base::Config& config, Place place, Watch& watch, Inbox& inbox);

  // tcp_side_channel_dial.cpp
  void dial(Rank to);
  void dial_failed(Rank to, int trouble);
  void round_failed(Rank to);
  void hear_out(Rank to);
  void shake_hands(Rank to);
  void hear_answers(Rank to);
  void flush(Rank to);
  void end_out(Rank to, const char* why);
  // tcp_side_channel_pending.cpp
  void accept_pending(std::uint32_t listener);
  bool accept_one(std::uint32_t listener);
  void make_room();
  void hear_in(std::uint32_t number);
  bool hear_pending(std::uint32_t number, WayIn& way);
  bool seat(std::uint32_t number, Rank rank);
  void end_in(std::uint32_t number, const char* why);
  void refuse(std::uint32_t number, const char* why);
  // tcp_side_channel_clock.cpp
  void on_clock();
  void dial_or_give_up(std::int64_t now_ns);
  void check_keepalive(std::int64_t now_ns);
  void await_confirmation();
  void wake_at(std::int64_t at_ns);
  std::int64_t next_due_ns() const;

  void settle(Rank rank);
  void tell_gone(Rank rank);
  void close_socket(base::UniqueFd& socket);

  const base::Config config_;
  const base::Log log_;
  Parties parties_;
  const std::int64_t pending_ns_;  // as Place has it
  const base::TimeSource time_;
  Watch& watch_;
  Inbox& inbox_;
  const Secret* secret_ = nullptr;
  Listeners listeners_;
  base::UniqueFd timer_;  // rings at the next deadline
  base::UniqueFd spare_;  // to be closed when no descriptor is left for a pending connection
  std::vector<Addresses> addresses_;
  std::map<Rank, Peer> peers_;
  std::map<std::uint32_t, WayIn> ways_in_;  // by number, so in the order of their coming
  std::uint32_t next_number_ = 1;
  std::int64_t armed_ns_ = 0;  // it rings then; 0: it does not
  std::int64_t look_ns_ = 0;   // for silent hosts; 0: nothing is unconfirmed
  std::uint64_t refused_count_ = 0;
  bool leaving_ = false;
};

}  // namespace photon::boot
