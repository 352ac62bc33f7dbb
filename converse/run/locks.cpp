// Locks and barriers. A lock is a mutex that knows who has it, so that misuse has words.
#include <pthread.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "converse/run/leaving.hpp"

struct CmiNodeLockStruct {
  pthread_mutex_t mutex;
};

namespace photon::converse {

namespace {

pthread_mutex_t& mutex_of(const char* call, CmiNodeLock lock) noexcept {
  if (lock == nullptr) refuse(call, "the lock is null: CmiCreateLock() makes one");
  return lock->mutex;
}

void check_lock(const char* call, int error) noexcept {
  if (error == 0) [[likely]]
    return;
  if (error == EDEADLK) refuse(call, "this PE has the lock already");
  if (error == EPERM) refuse(call, "this PE does not have the lock");
  if (error == EBUSY) refuse(call, "a PE has the lock: unlock it first");
  refuse(call, "%s", std::strerror(error));
}

}  // namespace

}  // namespace photon::converse

using photon::converse::check_lock;
using photon::converse::mutex_of;

CmiNodeLock CmiCreateLock(void) {
  auto* const lock = new (std::nothrow) CmiNodeLockStruct;
  if (lock == nullptr) photon::converse::refuse(__func__, "no memory for a lock");
  pthread_mutexattr_t kind;
  check_lock(__func__, ::pthread_mutexattr_init(&kind));
  check_lock(__func__, ::pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK));
  check_lock(__func__, ::pthread_mutex_init(&lock->mutex, &kind));
  ::pthread_mutexattr_destroy(&kind);
  return lock;
}

void CmiLock(CmiNodeLock lock) {
  check_lock(__func__, ::pthread_mutex_lock(&mutex_of(__func__, lock)));
}

void CmiUnlock(CmiNodeLock lock) {
  check_lock(__func__, ::pthread_mutex_unlock(&mutex_of(__func__, lock)));
}

int CmiTryLock(CmiNodeLock lock) {
  const int error = ::pthread_mutex_trylock(&mutex_of(__func__, lock));
  if (error == EBUSY) return error;
  check_lock(__func__, error);
  return 0;
}

void CmiDestroyLock(CmiNodeLock lock) {
  check_lock(__func__, ::pthread_mutex_destroy(&mutex_of(__func__, lock)));
  delete lock;
}

void CmiNodeBarrier(void) {
  photon::converse::Pe& pe = photon::converse::here(__func__);
  photon::converse::require(pe, __func__, ph_task_node_barrier(pe.task));
  photon::converse::heed_end(pe);
}

// No thread of the process stands beside its PEs.
void CmiNodeAllBarrier(void) { CmiNodeBarrier(); }

int CmiBarrier(void) {
  photon::converse::Pe& pe = photon::converse::here(__func__);
  photon::converse::require(pe, __func__, ph_task_barrier(pe.task));
  photon::converse::heed_end(pe);
  return 0;
}

int CmiBarrierZero(void) { return CmiBarrier(); }
