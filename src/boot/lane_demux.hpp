// One bootstrap shared by the lanes of a rank: messages bear the number of the lane they are for,
// and whoever receives hands the others theirs.
//
//   number: unknown -- open_lane() --> open -- leave() --> closed, for good
//
//   unknown: what comes is kept for it, up to a limit; then its sender is refused
//   open:    what comes goes into its inbox, whose descriptor wakes its sleeper
//   closed:  its sender is told so, and takes this rank as departed from that lane; the ends of
//            ranks are still told, as long as the lane's boot lives
//
// What is for lane 0 travels as it is; what is for another one behind an Envelope.
// Invariants: messages of one rank for one lane stay in order; the end of a rank is told to every
// lane's boot, to those opened later after what was kept for them.
// Lock order: the real boot's mutex, then a lane inbox's. A receiver that finds the real boot busy
// takes what lies in its inbox: whoever is there hands it the rest. Owner: the boots of the lanes
// together (shared_ptr). Threads: one a lane at a time.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "boot/boot.hpp"
#include "boot/inbox.hpp"
#include "boot/number_set.hpp"

namespace photon::boot {

class LaneDemux {
 public:
  // The boot of lane 0; its open_lane() makes the others.
  static base::Result<std::unique_ptr<Boot>> front(std::unique_ptr<Boot> real);

  explicit LaneDemux(std::unique_ptr<Boot> real) : real_(std::move(real)) {}

  // What lies ready for a lane.
  struct LaneInbox {
    explicit LaneInbox(Inbox made) : inbox(std::move(made)) {}
    std::mutex mutex;
    Inbox inbox;
    std::optional<base::Error> failure;  // of the real boot, to be told once
    std::set<Rank> left;                 // ranks that have closed this lane
  };

  Boot& real() noexcept { return *real_; }
  base::Result<> open(std::uint32_t number, const std::shared_ptr<LaneInbox>& lane_inbox);
  // The lane takes no message any more: said to those it has met, and to whom it has not answered.
  void close(std::uint32_t number, const std::set<Rank>& met);
  void drop(std::uint32_t number);  // its boot ends
  base::Result<bool> send(std::uint32_t number, Rank to, std::span<const std::byte> bytes,
                          std::span<const int> fds);
  // Moves what has arrived to the lane inboxes, up to a message for this lane, unless somebody else
  // is at it.
  void sort(std::uint32_t number);
  bool idle();
  base::Result<> leave();
  bool has_left(Rank rank);
  void blame(Rank rank);
  // Other lanes' threads may learn of a rank meanwhile.
  std::uint32_t local_size();
  bool knows(Rank rank);
  std::optional<Address> met_at(Rank rank);
  bool passes_descriptors(Rank rank);
  base::Result<Rank> connect(std::span<const std::byte> address);
  // Runs a collective of the real boot; others get in whenever it serves.
  template <class Collective>
  base::Result<> collect(Collective collective, const Serve& serve);

 private:
  enum class What : std::uint32_t { data, closed, refused };
  struct Envelope {
    std::uint64_t magic;
    std::uint32_t lane;
    What what;
  };
  static constexpr std::uint64_t kMagic = 0x00'65'6e'61'6c'68'70'00ULL;
  static constexpr std::size_t kMostKept = 64;  // of one rank; each holds a few descriptors

  LaneInbox* route(Message message);
  void tell_gone(Message message);
  LaneInbox* put(LaneInbox& lane_inbox, Message message);
  void answer_unread(std::uint32_t number, const std::deque<Message>& messages);
  LaneInbox* take_for(const Envelope& envelope, Message message);
  void keep(std::uint32_t number, Message message);
  bool knows(std::uint32_t number, const Message& message) const;
  void answer(std::uint32_t number, Rank to, What what);
  void fail(const base::Error& why);

  std::mutex mutex_;  // of all below
  const std::unique_ptr<Boot> real_;
  std::map<std::uint32_t, std::shared_ptr<LaneInbox>> lane_inboxes_;
  NumberSet closed_;
  std::map<std::uint32_t, std::deque<Message>> kept_;
  std::map<Rank, std::size_t> kept_counts_;
  std::map<Rank, const char*> gone_;  // and why
  std::optional<base::Error> failure_;
};

}  // namespace photon::boot
