// Serves the channels of ranks: reads, queues, holds back senders to those that take nothing. What
// a packet means is said by its two kinds: the Router (the root's, which knows all ranks) and the
// Relay (another host's, which knows its own and the connection to the root).
// Invariant: between two ranks packets keep their order.
// Owner: Generations, of each of which it is one. Never blocks; what it holds is bounded, a sender
// to a full queue is not read.
#pragma once

#include <poll.h>

#include <memory>
#include <string>
#include <vector>

#include "channel.hpp"
#include "frame.hpp"
#include "share.hpp"

namespace photonrun {

class Exchange {
 public:
  virtual ~Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // A rank reports how far it has come in the job; `other`: the rank that it blames.
  struct Report {
    enum class Kind : std::uint8_t { joined, left, blames };
    Kind kind{};
    unsigned rank = 0;
    unsigned other = 0;
  };
  // A rank that comes into the next generation, or will be in no later one.
  struct Leaver {
    unsigned rank = 0;
    bool comes = false;
    Fd next;   // its channel there, if it is one of this host
    Fd pidfd;  // of its process, if there is one
  };

  // The rank's end of a channel of this host. Throws std::system_error.
  Fd open(unsigned rank) { return local(rank).make_pair(); }
  // The rank comes from the generation before.
  void adopt(Leaver leaver) {
    local(leaver.rank).adopt(std::move(leaver.next), std::move(leaver.pidfd));
  }
  virtual void want(std::vector<pollfd>& entries);
  void handle(const std::vector<pollfd>& entries);
  // packet, finish, taken, closed: what a connection brought. False: it makes no sense.
  virtual bool handle_frame(Frame frame) = 0;
  // The rank's process was reaped: reads what it still said, then tells the others. settle() is to
  // follow.
  void rank_ended(unsigned rank, ph_launch_gone how);
  // Serves what there may be room for now, and what frames have brought.
  virtual void settle();
  // No generation before it runs any more.
  void set_oldest() { is_oldest_ = true; }
  // "rank 3 sent a malformed packet", once each.
  std::vector<std::string> take_complaints() { return std::exchange(complaints_, {}); }
  // In their order.
  std::vector<Report> take_reports() { return std::exchange(reports_, {}); }
  std::vector<Leaver> take_leavers() { return std::exchange(leavers_, {}); }
  // All channels that it knows are.
  virtual bool is_over() const;

 protected:
  enum class Pace { bounded, to_the_end };

  // held: of all generations.
  Exchange(const Share& share, std::shared_ptr<HeldFds> held);

  const Share& share() const { return share_; }
  LocalChannel& local(unsigned rank) { return *locals_[rank - share_.first]; }
  virtual Channel& channel(unsigned rank) = 0;
  virtual bool may_read(unsigned /*rank*/) const { return true; }
  // False: malformed.
  virtual bool dispatch(unsigned rank, Packet packet, Pace pace) = 0;
  virtual void over(unsigned rank, ph_launch_gone how,
                    std::optional<Packet> last_word = std::nullopt) = 0;

  void report(Report report) { reports_.push_back(report); }
  // False: malformed. Takes the channel that it brings, if it does.
  bool take_leave(unsigned rank, Packet& packet);
  // The rank's channel is over: if it brought no other one it will not come again.
  void note_over(unsigned rank);
  void serve(unsigned rank, Pace pace);
  bool forward(unsigned rank, Packet packet, Pace pace);
  void retry_stalled(unsigned rank);

 private:
  bool has_room(const Channel& channel) const;
  bool too_many_fds() const { return !held_->has_room(is_oldest_); }

  static constexpr std::size_t kNone = ~std::size_t{0};
  // Where a rank's entries of this turn stand.
  struct Wanted {
    unsigned rank = 0;
    std::size_t socket = kNone;
    std::size_t process = kNone;
  };

  Share share_;
  std::shared_ptr<HeldFds> held_;
  bool is_oldest_ = false;
  std::vector<std::unique_ptr<LocalChannel>> locals_;
  std::vector<std::string> complaints_;
  std::vector<Leaver> leavers_;
  std::vector<Report> reports_;
  std::vector<Wanted> wanted_;
};

Packet refusal(ph_launch_refusal reason, std::uint64_t sequence = 0);

}  // namespace photonrun
