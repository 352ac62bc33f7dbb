// Links between two ranks that both live, and that are lost for good: which of them carry nothing
// any more, and when either rank can know that.
//
//   whole -- add(unreachable) --------------------------------------------> blocked
//   whole -- add(cut_off) --> armed -- its next record is malformed, and
//                                      has arrived (block_cut_off()) -----> blocked
//   rank:  no link -- it says hello --> link -- the pair is blocked --> told, within the bound:
//   long
//          before the other one is, or long after it
//
// Invariants: nothing passes a blocked way. Who has no link to a peer is told nothing of it: its
// own hello is what begins the wait. All draws are of a stream of their own. Owner: a SimNetwork.
// Threads: one at a time (the network's mutex).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "transport/sim/sim_random.hpp"
#include "transport/transport.hpp"

namespace photon::transport::sim {

struct Loss {
  enum class Kind : std::uint8_t {
    unreachable,  // nothing of `from` reaches `to` any more
    cut_off,      // the next record of `from` to `to` is malformed, and `to` ends the pair over it
  };
  Kind kind = Kind::unreachable;
  Rank from = 0;
  Rank to = 0;
  bool both_ways = true;        // nothing of `to` reaches `from` either; after a cut-off always so
  std::uint64_t notice_ns = 0;  // at most: until a rank that has a link knows
};

class SimLosses {
 public:
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

  SimLosses(std::uint32_t ranks_count, const Random& random);

  // An unreachable pair is blocked at once.
  void add(const Loss& loss);
  // All that were added: a lane's network is made like the job's.
  const std::vector<Loss>& all() const noexcept { return all_; }

  // Whether this record is to be malformed; the next one is not.
  bool spoils(Rank from, Rank to) { return std::exchange(way(from, to).armed, false); }
  void block_cut_off(Rank from, Rank to);

  bool is_blocked(Rank from, Rank to) const { return way(from, to).blocked; }
  bool is_lost(Rank a, Rank b) const { return is_blocked(a, b) || is_blocked(b, a); }

  // `me` has a link to the peer from now on.
  void begin(Rank me, Rank peer) { way(me, peer).has_link = true; }
  // Something of `from` was lost on the way.
  void drop(Rank from, Rank to) { way(from, to).has_dropped = true; }
  // When `me` is to be told, if that is to be decided now: the pair is lost, it has a link, and it
  // was not decided before.
  std::optional<std::uint64_t> decide(Rank me, Rank peer, std::uint64_t now_ns);

  // When `me` can know that its link to the peer is lost; kUnknown: never.
  std::uint64_t known_ns(Rank me, Rank peer) const { return way(me, peer).known_ns; }
  // Whether something that `me` has sent was lost, and it cannot know yet.
  bool owes_news(Rank me, std::uint64_t now_ns) const;
  // How long a NIC tries in vain.
  std::uint64_t draw_tries(Rank from, Rank to) { return random_.up_to(way(from, to).notice_ns); }

 private:
  // From one rank to another, at its sender.
  struct Way {
    bool has_link = false;
    bool armed = false;
    bool blocked = false;
    bool has_dropped = false;
    std::uint64_t notice_ns = 0;
    std::uint64_t known_ns = kUnknown;
  };

  Way& way(Rank from, Rank to) { return ways_[std::size_t{from} * ranks_count_ + to]; }
  const Way& way(Rank from, Rank to) const { return ways_[std::size_t{from} * ranks_count_ + to]; }

  const std::uint32_t ranks_count_;
  Random random_;
  std::vector<Way> ways_;
  std::vector<Loss> all_;
};

}  // namespace photon::transport::sim
