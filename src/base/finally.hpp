// Does something when its scope ends, however it ends: words of an error may find no memory.
#pragma once

#include <utility>

namespace photon::base {

template <class Action>
class Finally {
 public:
  explicit Finally(Action action) noexcept : action_(std::move(action)) {}
  Finally(const Finally&) = delete;
  Finally& operator=(const Finally&) = delete;
  ~Finally() { action_(); }

 private:
  Action action_;
};

}  // namespace photon::base
