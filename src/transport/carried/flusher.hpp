// The thread that goes on with what its rank has begun, should the rank not come again: sends what
// was held back, lets in whom it asked to connect (docs/tcp.md, Holding back; docs/ofi.md,
// Progress). It is started when there is something for the first time, sleeps while there is
// nothing, and touches nothing but what the owner's function does under the owner's mutex.
//
// It keeps out of the way of a rank that does come: a tick that finds the owner's mutex taken is
// over, for who has it does the same work. To queue for it there costs the rank two system calls
// and three changes of thread a tick (on loopback a fifth of an exchange's time). Ticks that are
// far apart because nothing was noted do queue.
//
// A rank that is in the midst of an exchange holds something at almost every tick, and sends it
// itself a moment later. Ticks that were not needed come later and later, up to 2 ms, until one
// finds that its rank did not come: each puts another thread where the rank runs. (Of an exchange
// of 4 KiB on loopback that took a fifth of the time.) So what a rank leaves behind is at most as
// late as it has been coming by itself.
//
//   none -- note() --> ticking -- some ticks without a note() --> parked -- note() --> ticking
//                      ticking -- something is left, ticks without a note() --> ticking, slower
//                      ticking -- a tick was needless --> ticking, slower -- one was not -->
//                      ticking
//   none, parked -- note_later() --> ticking, at the slowest
//   any -- stop() --> ended
//
// Its own mutex is taken with the owner's held, never the other way round.
// Owner: the transport, whose mutex it is given.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace photon::transport::carried {

class Flusher {
 public:
  enum class Look : std::uint8_t {
    needless,  // its rank has seen to all that was noted
    busy,      // its rank is there: it sees to it, or leaves it for the next tick
    done,
    left,  // something takes longer
  };
  // `flush` is called with the owner's mutex locked, and does not say `busy`.
  Flusher(std::mutex& owners, std::function<Look()> flush)
      : owners_(owners), flush_(std::move(flush)) {}
  ~Flusher() { stop(); }
  Flusher(const Flusher&) = delete;
  Flusher& operator=(const Flusher&) = delete;

  // Something is held; the caller has the owner's mutex. False: there is no thread to be had, so
  // nothing may be held.
  bool note();
  // Something is under way that will as a rule be over without us; should it not be, `flush` is
  // called some 16 ms later. Cheap: a thread that ticks is left alone. The caller has it.
  bool note_later();
  // The caller does not have the mutex. Afterwards there is no thread to be had.
  void stop();

 private:
  bool start();
  void run();
  Look look(bool may_queue);

  std::mutex& owners_;
  const std::function<Look()> flush_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::thread thread_;
  std::uint64_t notes_ = 0;
  bool is_due_later_ = false;
  bool is_parked_ = false;
  bool is_slow_ = false;  // ticks are far apart: a note is worth a call
  bool is_ending_ = false;
  bool has_failed_ = false;
};

}  // namespace photon::transport::carried
