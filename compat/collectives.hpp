// The collectives of a session: prepared ones, those under way, and those over that nobody took.
//
//   prepare() -> rid -- join() --> under way -- over --> taken by a probe or by its rid
//     (blocking ones:)  -- conclude(), by join() itself --> untold -- a probe --> taken
//
// They talk on a lane of their own, opened when the first is prepared: no id of theirs meets the
// program's, and none of their traffic stands in its order. Progress is made by probes, waits and
// other collective calls.
//
// Invariant: a collective's name is made of its members, in their order, and of how many were
// prepared for just these before; so ranks that prepare the collectives of one communicator in the
// same order name them alike, and nothing has to be agreed on.
// Owner: the session. Any thread. Locks: `mutex_`, then a collective's; who waits holds the latter
// alone, and then others pass by that collective. Without collectives a probe pays one load.
#pragma once

#include <photon.h>
#include <photon/photon.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "compat/collective.hpp"
#include "compat/requests.hpp"
#include "sync/hint.hpp"

namespace photon::classic {

class Collectives {
 public:
  // So many local ids of blocking ones are kept at most.
  Collectives(ph_context* context, Requests& requests, std::uint64_t most_untold) noexcept
      : context_(context), requests_(requests), most_untold_(most_untold) {}
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  // A handle for these members, until the session ends. Throws bad_alloc.
  photon_coll_comm keep(Members members);
  // It came from keep(), of whichever session: it is no array of ranks, and not to be read.
  static bool is_handle(const void* comm) noexcept;
  // Nothing: it is no handle of this session. Throws bad_alloc.
  std::optional<Members> members_of(const void* comm);

  // `plan` but for its steps and its name. 0 after having said why: there is no lane. Throws
  // bad_alloc before anything is changed.
  photon_rid prepare(Collective::Plan plan, const Members& members);
  // Null: there is none.
  std::shared_ptr<Collective> find(photon_rid rid);
  // From now on it goes on, whoever probes. False: it was joined before.
  bool begin(Collective& collective, const Collective::Work& work);

  // One is under way, or over and not taken.
  bool any() const noexcept { return not_taken_.get() != 0; }
  void progress();
  // Returns when it is over.
  void await(Collective& collective);
  // A blocking one is over: its rid goes, its local id is to be probed. If as many as may be wait
  // for that, the oldest goes, which is said once: its join has told how it ended.
  void conclude(photon_rid rid) noexcept;
  // The local id of one that is over, in the order of blocking ones; then that is gone.
  std::optional<Collective::Told> take_over();
  // The number of local ids, of collectives joined here, that no probe has taken yet.
  std::size_t untold();
  // True for the one who took it.
  bool take(photon_rid rid);

  // What was sent has landed, or its peers are lost. False: not within timeout_us.
  bool settle(std::int64_t timeout_us) noexcept;
  // After the context was finalized: no lane of it is used any more.
  void clear() noexcept;

 private:
  using Table = std::map<photon_rid, std::shared_ptr<Collective>>;

  bool open_lane();
  void greet(const std::vector<Step>& steps);
  static void drop_greetings(ph_context* lane);
  void remove(Table::iterator at);
  void recount() noexcept;

  ph_context* const context_;
  Requests& requests_;
  const std::uint64_t most_untold_;
  std::mutex mutex_;
  // under it, as is all that follows:
  ph_context* lane_ = nullptr;
  Table table_;
  std::map<Members, std::uint64_t> prepared_;  // how many
  // As long as this object, which outlives its session: so no other session has the same handles.
  std::vector<std::unique_ptr<const Members>> communicators_;
  std::set<ph_rank> greeted_;
  std::list<Collective::Told> untold_;  // of blocking ones, whose rids are gone
  bool has_dropped_ = false;            // one of them
  // A collective is seen after it was joined, by way of mutex_: so are these.
  sync::Hint<sync::HardwarePolicy, std::uint32_t> begun_;      // of the table
  sync::Hint<sync::HardwarePolicy, std::uint32_t> not_taken_;  // these and the untold
};

}  // namespace photon::classic
