// The lock of a transport that carries: its engine's calls, which come one at a time, and beside
// them, seldom, somebody else: the Flusher, a thread that is about to sleep.
//
// It is the lane's lock (sync/bias_lock.hpp, with the argument) whose bias the engine has for ever:
// to enter costs it no locked instruction, of which an exchange over tcp would make a dozen a
// message. Whoever else comes visits. Which thread an engine's call is on does not matter: the
// lane's lock, by which it came, orders them.
// Owner: the transport.
#pragma once

#include "sync/bias_lock.hpp"
#include "sync/patient_wait.hpp"

namespace photon::transport::network {

class OwnerLock {
 public:
  // For the engine's calls; not again from within.
  void lock() noexcept { held_ = lock_.lock(kEngine); }
  void unlock() noexcept { lock_.unlock(held_); }
  // The same, and a call from within another one has the lock already.
  void enter() noexcept {
    if (depth_++ == 0) lock();
  }
  void leave() noexcept {
    if (--depth_ == 0) unlock();
  }

  // For all others. False: somebody is inside.
  bool try_visit() noexcept {
    Lock::Held held{};
    if (!lock_.try_visiting(kVisitor, held)) return false;
    visit_ = held;
    return true;
  }
  // Waits, asleep if that takes long: a callback of the application's may be running inside.
  void visit() noexcept { visit_ = lock_.lock_visiting(kVisitor, sync::PatientWait()); }
  void end_visit() noexcept { lock_.unlock(visit_); }

 private:
  using Lock = sync::BiasLock<sync::HardwarePolicy>;
  static constexpr Lock::Token kEngine = 16;
  static constexpr Lock::Token kVisitor = 32;

  Lock lock_{sync::register_heavy_barrier(), kEngine};
  Lock::Held held_{};   // of the engine's call that is inside
  Lock::Held visit_{};  // of the visitor who is
  unsigned depth_ = 0;  // of the engine's calls: under its lane lock
};

// What every call of the engine's holds, for its scope: the engine may call from within a callback
// of poll().
class Entered {
 public:
  explicit Entered(OwnerLock& lock) noexcept : lock_(lock) { lock_.enter(); }
  ~Entered() { lock_.leave(); }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  OwnerLock& lock_;
};

// A visit for a scope.
class Visit {
 public:
  explicit Visit(OwnerLock& lock) noexcept : lock_(lock) { lock_.visit(); }
  ~Visit() { lock_.end_visit(); }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  OwnerLock& lock_;
};

}  // namespace photon::transport::network
