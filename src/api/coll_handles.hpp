// Handles of teams and of prepared collectives: what a caller holds.
//
//   free -- give() --> used -- take_back() --> free
//
// A handle is used again only when so many others have been freed since, and its memory lives as
// long as the context or lane: so a call with a freed one is refused, not undefined.
// Owner: a ph_context, under the lane's lock.
#pragma once

#include <photon/coll.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/ring_queue.hpp"

namespace photon::service::coll {
class Team;
struct Operation;
}  // namespace photon::service::coll

// `team` and `op` are null once they are freed. The rest does not change while it is used.
struct ph_team {
  ph_context* home = nullptr;
  photon::service::coll::Team* team = nullptr;
  uint32_t rank = UINT32_MAX;
  uint32_t size = 0;
};

struct ph_coll {
  ph_context* home = nullptr;
  photon::service::coll::Operation* op = nullptr;
};

namespace photon::api {

template <class Handle>
class Handles {
 public:
  // Throws bad_alloc.
  Handle& give(ph_context* home) {
    freed_.make_room(all_.size() + 1);  // so that each can be freed
    if (freed_.size() > kMostRecent) {
      Handle& old = *freed_.front();
      freed_.pop();
      old.home = home;
      return old;
    }
    all_.push_back(std::make_unique<Handle>());
    all_.back()->home = home;
    return *all_.back();
  }
  void take_back(Handle& handle) noexcept {
    ph_context* const home = handle.home;
    handle = Handle();
    handle.home = home;
    freed_.push_unchecked(&handle);
  }

 private:
  static constexpr std::uint64_t kMostRecent = 64;
  std::vector<std::unique_ptr<Handle>> all_;
  base::RingQueue<Handle*> freed_;
};

// One that is given, and goes back at the end of the call unless it is kept.
template <class Handle>
class Lent {
 public:
  // Throws bad_alloc.
  Lent(Handles<Handle>& all, ph_context* home) : all_(all), handle_(&all.give(home)) {}
  ~Lent() {
    if (handle_ != nullptr) all_.take_back(*handle_);
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  Handle* operator->() const noexcept { return handle_; }
  Handle* keep() noexcept { return std::exchange(handle_, nullptr); }

 private:
  Handles<Handle>& all_;
  Handle* handle_;
};

struct CollHandles {
  Handles<ph_team> teams;
  Handles<ph_coll> colls;
  ph_team* world = nullptr;
};

}  // namespace photon::api
