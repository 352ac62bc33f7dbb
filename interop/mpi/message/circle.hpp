// The members of a communicator that send each other active messages, and what this process has
// sent and handled among them (docs/mpi.md, "Active messages").
//
//   a handler:   none -- registered, by all members together --> known
//                known -- all messages are over, all members free it --> none
//   a message:   sent -- its header handler begins --> begun -- its last handler has ended --> over
//   news:        sent -- it has come --> over           (of a message that did not end well)
//   the circle:  none -- the first handler of a communicator --> attached to it -- the communicator
//                is freed, and the last handler --> none
//
// Invariants: `sent` is counted before a message can begin, and `over` behind all that its handlers
// have sent. Both only grow.
// Owner: the communicator, by an attribute, and each handle of a handler. Threads: any, under the
// mutex of the circles; what stands above the line is not changed.
#pragma once

#include <photon/photon.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "interop/mpi/photon_mpi.h"
#include "interop/mpi/window/outcome.hpp"

namespace photon::mpi {

// Why a message did not end well.
enum class Fault : std::uint32_t {
  none,
  no_handler,
  header_handler,
  too_small,
  bad_landing,
  comp_handler,
  cut_off,
  no_memory,
};
Outcome outcome_of(Fault fault) noexcept;

struct Handler {
  MPIX_Am_hhandler* function = nullptr;
  void* user = nullptr;
};

struct Counts {
  std::uint64_t sent = 0;
  std::uint64_t begun = 0;
  std::uint64_t over = 0;
};

struct Circle {
  std::uint64_t number = 0;       // all members have the same
  MPI_Comm comm = MPI_COMM_NULL;  // ours, of these members
  std::vector<ph_rank> ranks;     // of the members, in the job
  int own = 0;
  // ----
  MPI_Comm users = MPI_COMM_NULL;  // the program's; null: it has freed it
  std::map<int, Handler> handlers;
  Counts counts;
  Fault fault = Fault::none;  // the first of what this process has sent, until it is told
  bool is_broken = false;     // a member is lost
  // Of waves, which MPI reads and writes; a wave that has lost a member never ends.
  static constexpr int kSums = 3;
  std::int64_t wave[kSums] = {};
  std::int64_t sums[kSums] = {};
};

// All circles of this process, by their numbers.
class Circles {
 public:
  std::mutex& mutex() noexcept { return mutex_; }

  bool enter(const std::shared_ptr<Circle>& circle) noexcept;  // false: there is no memory
  void leave(const Circle& circle) noexcept;
  std::shared_ptr<Circle> find(std::uint64_t number) noexcept;

  // A message is about to be sent; one that was counted could not be, and is over.
  void count_sent(Circle& circle) noexcept;
  void end_unsent(Circle& circle) noexcept;
  // The handler of a message that begins; none: it has none.
  Handler begin(Circle& circle, int id) noexcept;
  void end(Circle& circle) noexcept;
  // News of a message that this process has sent, which is over itself with that.
  void note(Circle& circle, Fault fault) noexcept;
  void note_news(Circle& circle, Fault fault) noexcept;

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<Circle>> all_;
};

}  // namespace photon::mpi

// A handle of the program.
struct MPIX_Am_registration {
  std::shared_ptr<photon::mpi::Circle> circle;
  int id = 0;
};
