// One collective of this rank: its schedule, and how far it has come.
//
//   prepared -- begin() --> under way -- advance(), again and again --> over
//
// A message is a send buffer that its sender announces, and that its receiver takes by sender and
// tag, reads and finishes: any size, with nothing registered, and nothing to be agreed on before.
//
// A failure ends nothing early. From then on the rank sends word of it instead of data (a send
// request under the same tag), takes what comes and drops it, and so every peer that waits for it
// gets an answer; one that is dead or gone answers by the context's error. So all schedules end,
// and who depends on what failed is told.
//
// Owner: Collectives, and who waits for it. Threads: prepared() things are constant; begin() and
// advance() hold `mutex`.
#pragma once

#include <photon.h>
#include <photon/photon.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <vector>

#include "compat/reduction.hpp"
#include "compat/schedule.hpp"
#include "sync/policy.hpp"
#include "sync/published.hpp"

namespace photon::classic {

class Collective {
 public:
  // A local id, and how what it names has ended, for a probe.
  struct Told {
    std::vector<std::byte> id;
    bool id_is_word = false;
    ph_status status = PH_OK;
  };
  // What init says.
  struct Plan {
    photon_coll kind = PHOTON_COLL_BARRIER;
    std::vector<Step> steps;
    std::uint64_t name = 0;  // the same on all its ranks, and no other's
    bool is_root = false;    // of a reduction to one rank
    std::list<Told> told;    // one, if its local id comes out of a probe
  };
  // What join says. Nothing of a barrier.
  struct Work {
    const void* in = nullptr;
    void* out = nullptr;
    std::size_t count = 0;
    std::size_t element_bytes = 0;
    Fold fold = nullptr;
  };

  explicit Collective(Plan plan) noexcept : plan_(std::move(plan)) {}
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  const Plan& plan() const noexcept { return plan_; }
  bool blocks() const noexcept { return plan_.kind < PHOTON_COLL_IBARRIER; }
  bool tells() const noexcept { return !plan_.told.empty(); }
  bool is_barrier() const noexcept;
  // Its result goes to this rank's memory.
  bool yields() const noexcept;

  std::mutex mutex;

  // Throws bad_alloc before anything is changed. Without memory for the data it begins as failed:
  // peers depend on it.
  void begin(const Work& work);
  bool has_begun() const noexcept { return begun_.get() != nullptr; }
  // True when it is over. Waits up to timeout_us (0: not at all) for the next thing to happen.
  bool advance(ph_context* lane, std::int64_t timeout_us);
  bool is_over() const noexcept { return over_.get() != nullptr; }
  // When it is over.
  ph_status status() const noexcept { return status_; }
  // To the end of `list`, without allocating; then it tells no more.
  void tell(std::list<Told>& list) noexcept;

 private:
  enum class Stage { look, read, reading, finish };

  std::uint64_t tag_of(const Step& step) const noexcept;
  bool send(const Step& step);
  ph_status announce(const Step& step);
  bool receive(const Step& step);
  bool look(const Step& step);
  bool read();
  bool await_read();
  bool finish(const Step& step);
  bool settle();
  bool is_done(ph_request& request);
  void conclude();
  void hear(ph_rank peer, std::uint64_t word) noexcept;
  void fail(ph_status status, ph_rank peer, const char* why) noexcept;
  bool has_failed() const noexcept { return status_ != PH_OK; }

  Plan plan_;  // all but `told` stays
  Work work_;
  std::vector<std::byte> result_;    // so far
  std::vector<ph_request> sending_;  // that read it
  std::size_t next_ = 0;
  Stage stage_ = Stage::look;
  ph_buffer buffer_{};  // taken, not finished
  ph_request reading_ = PH_REQUEST_NONE;
  ph_context* lane_ = nullptr;   // of this advance()
  std::int64_t timeout_us_ = 0;  // of this advance(); 0 once it was spent
  ph_status status_ = PH_OK;     // the first failure
  // Set to this: who sees it sees all that was written before, without the mutex.
  sync::Published<sync::HardwarePolicy, Collective> begun_;
  sync::Published<sync::HardwarePolicy, Collective> over_;
};

}  // namespace photon::classic
