// The collectives of a session: prepared ones, those under way, and those over that nobody took.
//
//   prepare() -> rid -- join() --> under way -- over --> taken by a probe or by its rid
//     (blocking ones:)  -- conclude(), by join() itself --> untold -- a probe --> taken
//
// They are operations of ph_coll_*, each named by a request, on the teams of their communicators:
// so no id of theirs meets the program's. What is under way goes on by any progress of the context;
// what waits for its team or for room is begun by probes, waits and other collective calls.
//
// Owner: the session. Any thread. `mutex_` is held over calls on the context that do not wait; who
// waits holds nothing. Without collectives a probe pays one load.
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
#include <vector>

#include "compat/collective.hpp"
#include "compat/requests.hpp"
#include "sync/hint.hpp"

namespace photon::classic {

class Collectives {
 public:
  using Handle = std::shared_ptr<Collective>;

  // So many local ids of blocking ones are kept at most. The provider is there for who wants it.
  Collectives(ph_context* context, Requests& requests, std::uint64_t most_untold,
              const ph_coll_provider& provider) noexcept
      : context_(context), requests_(requests), most_untold_(most_untold), provider_(provider) {}
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  // A handle for these members, until the session ends. Throws bad_alloc.
  photon_coll_comm keep(Members members);
  // It came from keep(), of whichever session: it is no array of ranks, and not to be read.
  static bool is_handle(const void* comm) noexcept;
  // Nothing: it is no handle of this session. Throws bad_alloc.
  std::optional<Members> members_of(const void* comm);

  // 0 after having said why: there can be none. Throws bad_alloc before anything is changed.
  photon_rid prepare(photon_coll kind, std::list<Told> told, const Members& members);
  // Null: there is none.
  Handle find(photon_rid rid);
  // From now on it goes on, whoever probes. PH_ERR_NOT_FOUND: it was joined before. PH_ERR_ARGUMENT
  // and PH_ERR_MEMORY: it may be joined again. It tells nothing else: how it ends is seen later.
  ph_status join(Collective& collective, const Work& work);

  // One is under way, or over and not taken.
  bool any() const noexcept { return not_taken_.get() != 0; }
  void progress();
  // Returns when it is over: how.
  ph_status await(Collective& collective);
  bool has_joined(const Collective& collective);
  bool is_over(const Collective& collective);
  // A blocking one is over: its rid goes, its local id is to be probed. If as many as may be wait
  // for that, the oldest goes, which is said once: its join has told how it ended.
  void conclude(photon_rid rid) noexcept;
  // The local id of one that is over, in the order of blocking ones; then that is gone.
  std::optional<Told> take_over();
  // The number of local ids, of collectives joined here, that no probe has taken yet.
  std::size_t untold();
  // The number of those that the context counts among the operations of this rank with itself.
  std::size_t under_way();
  // True for the one who took it.
  bool take(photon_rid rid);

  // After the context was finalized: no team of it is used any more.
  void clear() noexcept;

 private:
  using Table = std::map<photon_rid, Handle>;
  using State = Collective::State;

  // All of these under mutex_.
  std::shared_ptr<Communicator> communicator_of(const Members& members);
  void place_all(Communicator& communicator);
  void step_all();
  void step(Collective& collective);
  ph_status change(Collective& collective);
  void begin(Collective& collective);
  void end(Collective& collective, ph_status status) noexcept;
  void drop(Collective& collective) noexcept;
  void give_room(Collective& collective);
  void remove(Table::iterator at);
  void recount() noexcept;

  // Without it.
  void await_end(Collective& collective, ph_request request);
  void await_team(Communicator& communicator);
  void say(ph_status status) noexcept;

  ph_context* const context_;
  Requests& requests_;
  const std::uint64_t most_untold_;
  const ph_coll_provider& provider_;
  std::mutex mutex_;
  // under it, as is all that follows:
  Table table_;
  std::map<Members, std::shared_ptr<Communicator>> communicators_;
  std::vector<std::shared_ptr<Communicator>> meeting_;  // with collectives that have no place yet
  // As long as this object, which outlives its session: so no other session has the same handles.
  std::vector<std::unique_ptr<const Members>> kept_;
  Room spare_;
  std::list<Told> untold_;    // of blocking ones, whose rids are gone
  bool has_dropped_ = false;  // one of them
  bool has_registered_ = false;
  std::size_t joined_ = 0;  // and not begun
  // A collective is seen after it was joined, by way of mutex_: so are these.
  sync::Hint<sync::HardwarePolicy, std::uint32_t> taking_part_;  // of the table: joined ones
  sync::Hint<sync::HardwarePolicy, std::uint32_t> not_taken_;    // these and the untold
};

}  // namespace photon::classic
