// A lack of memory that a test makes, and how often its thread asked for some.
// Threads: each has its own.
#pragma once

namespace photon::test {

// While it lives, this many calls of operator new of this thread succeed and all others fail.
class Shortage {
 public:
  explicit Shortage(int allowed) noexcept;
  ~Shortage();
  Shortage(const Shortage&) = delete;
  Shortage& operator=(const Shortage&) = delete;
};

int allocations_count() noexcept;  // of this thread so far

template <class Do>
int allocations_of(Do act) {
  const int before = allocations_count();
  act();
  return allocations_count() - before;
}

}  // namespace photon::test
