// The atomics policy (src/sync/policy.hpp) of the checker: same interface, but every operation is
// a step the checker schedules.
// Owner: locations belong to the execution under way.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "checker/execution.hpp"
#include "checker/operation.hpp"

namespace photon::checker {

// Values travel as 64-bit words. Pointers are refused: the scenario runs again for every replay,
// so an address means nothing in another one.
template <class T>
std::uint64_t to_word(T value) noexcept {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8 && !std::is_pointer_v<T>);
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof(T));
  return word;
}
template <class T>
T from_word(std::uint64_t word) noexcept {
  T value;
  std::memcpy(&value, &word, sizeof(T));
  return value;
}

struct CheckerPolicy {
  template <class T>
  class Atomic {
   public:
    Atomic() noexcept : Atomic(T{}) {}
    explicit Atomic(T value) noexcept
        : location_(Execution::current().add_location(LocationKind::atomic, to_word(value))) {}
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    T load(std::memory_order order) const noexcept { return perform(OpKind::load, T{}, order); }
    void store(T value, std::memory_order order) noexcept { perform(OpKind::store, value, order); }
    T exchange(T value, std::memory_order order) noexcept {
      return perform(OpKind::exchange, value, order);
    }
    bool compare_exchange(T& expected, T desired, std::memory_order success,
                          std::memory_order failure) noexcept {
      const Operation op{.kind = OpKind::compare_exchange,
                         .size_bytes = sizeof(T),
                         .order = success,
                         .failure_order = failure,
                         .location = location_,
                         .operand = to_word(desired),
                         .expected = to_word(expected)};
      const std::uint64_t found = Execution::current().perform(op);
      if (found == op.expected) return true;
      expected = from_word<T>(found);
      return false;
    }
    T fetch_add(T value, std::memory_order order) noexcept {
      return perform(OpKind::fetch_add, value, order);
    }

   private:
    T perform(OpKind kind, T value, std::memory_order order) const noexcept {
      return from_word<T>(Execution::current().perform({.kind = kind,
                                                        .size_bytes = sizeof(T),
                                                        .order = order,
                                                        .location = location_,
                                                        .operand = to_word(value)}));
    }
    LocationId location_;
  };

  template <class T>
  class Cell {
   public:
    Cell() noexcept
        : location_(Execution::current().add_location(LocationKind::cell, to_word(T{}))) {}
    Cell(const Cell&) = delete;
    Cell& operator=(const Cell&) = delete;
    T get() const noexcept {
      return from_word<T>(Execution::current().perform(
          {.kind = OpKind::cell_get, .size_bytes = sizeof(T), .location = location_}));
    }
    void set(T value) noexcept {
      Execution::current().perform({.kind = OpKind::cell_set,
                                    .size_bytes = sizeof(T),
                                    .location = location_,
                                    .operand = to_word(value)});
    }

   private:
    LocationId location_;
  };

  // The compiler does not reorder across a call into the model anyway.
  static void light_barrier() noexcept {}
  static void heavy_barrier() noexcept {
    Execution::current().perform({.kind = OpKind::heavy_barrier});
  }
  static void process_barrier() noexcept { heavy_barrier(); }  // all of a model are one process
  static void full_fence() noexcept { Execution::current().perform({.kind = OpKind::full_fence}); }
  static void relax() noexcept { Execution::current().perform({.kind = OpKind::relax}); }
  static void pause(unsigned spins) noexcept { Execution::current().pause(spins); }
};

}  // namespace photon::checker
