// A body of code that can be left in the middle and gone on with: Boost.Context with a stack of
// fixed size, and the word to AddressSanitizer that stacks change.
//
//   suspended -- resume() --> running -- leave() --> suspended
//                                     -- the body returns --> ended
//
// Invariant: resume() is called from outside, leave() from within; a fiber that was begun must end
// before it is destroyed.
// Owner: the Conductor. Threads: one.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace photon::simtest {

// Stacks that ended fibers leave to later ones.
class StackPool {
 public:
  static constexpr std::size_t kStackBytes = 256 << 10;
  StackPool() = default;
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  std::byte* take();
  void give(std::byte* stack) { free_.push_back(stack); }

 private:
  std::vector<std::byte*> free_;
};

class Fiber {
 public:
  Fiber(StackPool& stacks, std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void resume();
  void leave();
  bool ended() const noexcept { return ended_; }

 private:
  boost::context::fiber enter(boost::context::fiber&& outside);

  StackPool& stacks_;
  std::byte* stack_;
  std::function<void()> body_;
  boost::context::fiber inside_;
  boost::context::fiber outside_;
  const void* outside_bottom_ = nullptr;
  std::size_t outside_bytes_ = 0;
  void* outside_fake_ = nullptr;
  void* inside_fake_ = nullptr;
  bool ended_ = false;
};

}  // namespace photon::simtest
