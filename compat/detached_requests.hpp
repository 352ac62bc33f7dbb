// Transfers that go on though their rid is gone: the context keeps a place for each until it was
// taken, so somebody has to take it: rendezvous calls do, and whoever finds no room.
// Owner: the session. Any thread; its lock is held over looks, which never block.
#pragma once

#include <photon/photon.h>

#include <mutex>
#include <vector>

namespace photon::classic {

class DetachedRequests {
 public:
  // Throws bad_alloc before anything is added.
  void add(const std::vector<ph_request>& handles) {
    const std::scoped_lock lock(mutex_);
    handles_.insert(handles_.end(), handles.begin(), handles.end());
  }

  // Takes those that are over. False: none is.
  bool reap(ph_context* context) noexcept {
    const std::scoped_lock lock(mutex_);
    return std::erase_if(handles_, [&](ph_request handle) {
             return ph_test(context, &handle, nullptr) != PH_AGAIN;
           }) != 0;
  }

 private:
  std::mutex mutex_;
  std::vector<ph_request> handles_;  // under it
};

}  // namespace photon::classic
