// The thread that goes on with what its rank has begun, should the rank not come again: sends what
// was held back, lets in whom it asked to connect (docs/tcp.md, Holding back; docs/ofi.md,
// Progress). It is started when there is something for the first time, sleeps while there is
// nothing, and touches nothing but what the owner's function does under the owner's mutex.
//
//   none -- note() --> ticking -- some ticks without a note() --> parked -- note() --> ticking
//                      ticking -- something is left, ticks without a note() --> ticking, slower
//   none, parked -- note_later() --> ticking, at the slowest
//   any -- stop() --> ended
//
// Owner: the transport, whose mutex it shares.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace photon::transport::carried {

class Flusher {
 public:
  // `flush` is called with the mutex locked; true: something is left that takes longer.
  Flusher(std::mutex& mutex, std::function<bool()> flush)
      : mutex_(mutex), flush_(std::move(flush)) {}
  ~Flusher() { stop(); }
  Flusher(const Flusher&) = delete;
  Flusher& operator=(const Flusher&) = delete;

  // Something is held; the caller has the mutex. False: there is no thread to be had, so nothing
  // may be held.
  bool note();
  // Something is under way that will as a rule be over without us; should it not be, `flush` is
  // called some 16 ms later. Cheap: a thread that ticks is left alone. The caller has the mutex.
  bool note_later();
  // The caller does not have the mutex. Afterwards there is no thread to be had.
  void stop();

 private:
  bool start();
  void run();

  std::mutex& mutex_;
  const std::function<bool()> flush_;
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
