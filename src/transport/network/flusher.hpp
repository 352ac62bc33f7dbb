// The thread that goes on with what its rank has begun, should the rank not come again: sends what
// was held back, lets in whom it asked to connect (docs/tcp.md, Holding back; docs/ofi.md,
// Progress). It is started when there is something for the first time, sleeps while there is
// nothing, and touches nothing but what the owner's function does under the owner's mutex.
//
// It keeps out of the way of a rank that does come: a tick that finds that its rank has come since
// the last one, or is inside, is over, for the rank does the same work. To go in there would hold
// it up (to queue for it cost an exchange on loopback a fifth of its time). Ticks that are far
// apart because nothing was noted do queue.
//
// A rank that is in the midst of an exchange holds something at almost every tick, and sends it
// itself a moment later. Ticks that were not needed come later and later, up to 2 ms, until one
// finds that its rank did not come: each puts another thread where the rank runs. (Of an exchange
// of 4 KiB on loopback that took a fifth of the time.) So what a rank leaves behind is at most as
// late as it has been coming by itself.
//
//   none -- note() --> ticking -- some ticks without a note() --> slow, or parked
//                      ticking -- a tick was needless --> ticking, later -- one was not --> ticking
//   slow: something is left -- ticks without a note() --> slower -- note() --> ticking
//   parked -- note() --> ticking
//   none, parked -- note_later() --> slow, at the slowest
//   any -- stop() --> ended
//
// While it ticks a note is a count, which the next tick finds. That it does not tick any more is
// said under the owner's lock, so that no note falls between; from then on one takes our mutex, and
// wakes the thread. Our mutex is taken with the owner's lock held, never the other way round.
// Owner: the transport, whose lock it is given.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "sync/hint.hpp"
#include "transport/network/owner_lock.hpp"
#include "transport/transport.hpp"

namespace photon::transport::network {

class Flusher {
 public:
  enum class Look : std::uint8_t {
    needless,  // its rank has seen to all that was noted
    busy,      // its rank is there: it sees to it, or leaves it for the next tick
    done,
    left,  // something takes longer
  };
  // `flush` is called with the owner's lock, and does not say `busy`.
  Flusher(OwnerLock& owners, std::function<Look()> flush)
      : owners_(owners), flush_(std::move(flush)) {}
  ~Flusher() { stop(); }
  Flusher(const Flusher&) = delete;
  Flusher& operator=(const Flusher&) = delete;

  // Something is held; the caller has the owner's lock. False: there is no thread to be had, so
  // nothing may be held.
  bool note();
  // The owner polls: it sees to what was noted before. With its lock.
  void came() noexcept { ++comings_; }
  // Something is under way that will as a rule be over without us; should it not be, `flush` is
  // called some 16 ms later. Cheap: a thread that ticks is left alone. The caller has it.
  bool note_later();
  // The caller does not have the lock. Afterwards there is no thread to be had.
  void stop();

 private:
  bool start();
  void run();
  Look look(bool may_queue, unsigned& quiet_ticks);

  OwnerLock& owners_;
  const std::function<Look()> flush_;
  sync::Ticks<Policy> notes_;  // the owner counts, with its lock
  sync::Ticks<Policy> comings_;
  sync::Hint<Policy, std::uint32_t> is_ticking_;  // another tick will come soon
  std::uint64_t notes_seen_ = 0;                  // the thread's, by its last tick
  std::uint64_t comings_seen_ = 0;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::thread thread_;
  bool is_noted_ = false;  // since the last tick, while it was not ticking
  bool is_due_later_ = false;
  bool is_parked_ = false;
  bool is_ending_ = false;
  bool has_failed_ = false;
};

}  // namespace photon::transport::network
