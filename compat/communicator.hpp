// The ranks of a communicator in their order, and the team that they become.
//
//   listed -- look() --> meeting -- look(), until all have come --> made
//                        meeting -- one of them is lost --> failed
//
// All ranks of the job in their order are a team already. Others meet: whoever prepares the first
// collective among them looks at once, and again whenever collectives go on; nobody waits.
// Owner: Collectives. Threads: any; all but wait() under Collectives' mutex.
#pragma once

#include <photon/photon.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace photon::classic {

struct Collective;

// The ranks of a communicator, in its order.
using Members = std::vector<ph_rank>;

class Communicator {
 public:
  explicit Communicator(Members members) : members_(std::move(members)) {}
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  const Members& members() const noexcept { return members_; }
  // Null: it is not made.
  ph_team* team() const noexcept { return team_; }
  // PH_OK, or why it never will be.
  ph_status status() const noexcept { return status_; }
  // The words for that, whatever other calls have said since.
  const char* words() const noexcept { return words_.text; }
  // One look, without waiting.
  void look(ph_context* context) noexcept;

  // One thread at a time waits for the team: if it may, it calls begin_wait() under the mutex,
  // wait() without it, and end_wait() under it again with the result.
  bool may_wait() const noexcept { return team_ == nullptr && status_ == PH_OK && !is_waited_for_; }
  void begin_wait() noexcept { is_waited_for_ = true; }
  ph_status wait(ph_context* context, std::int64_t timeout_us, ph_team*& team) const noexcept;
  void end_wait(ph_context* context, ph_status status, ph_team* team) noexcept;

  // Prepared before there was a team, in their order: each will have its place in it.
  std::deque<std::shared_ptr<Collective>> unplaced;

 private:
  void note(ph_context* context, ph_status status, ph_team* team) noexcept;

  const Members members_;
  ph_team* team_ = nullptr;
  ph_status status_ = PH_OK;
  ph_error words_{};
  bool is_waited_for_ = false;
};

}  // namespace photon::classic
