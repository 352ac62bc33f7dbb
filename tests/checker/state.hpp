// A state of the model: for every thread its history, buffer and knowledge, for every location
// what can be read there. Each part is interned, so a state is a short row of numbers: cheap to
// copy, to compare and to hash.
// Invariant: equal states have equal futures. Owner: plain values; the store owns the parts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "checker/operation.hpp"

namespace photon::checker {

using Clock = std::array<std::uint16_t, kMaxThreads>;

// What a thread knows to have happened: events of each thread (for races) and, with stale loads,
// the oldest store of each location it may still read. Untracked parts stay empty.
struct Knowledge {
  Clock clock{};
  std::vector<std::uint16_t> view;

  void join(const Knowledge& other);
  void join_view(const Knowledge& other);
  void raise(LocationId location, std::uint16_t time);  // no effect if views are not tracked
  friend bool operator==(const Knowledge&, const Knowledge&) = default;
};

// A store that has left its thread's buffer.
struct Message {
  std::uint64_t value = 0;
  std::uint16_t time = 0;
  Knowledge known;  // what an acquiring reader learns
  friend bool operator==(const Message&, const Message&) = default;
};

// A store that has not.
struct Buffered {
  LocationId location = kNoLocation;
  bool release = false;
  std::uint64_t value = 0;
  Knowledge known;
  friend bool operator==(const Buffered&, const Buffered&) = default;
};

struct ThreadState {
  NodeId node = kNoNode;
  std::uint8_t barrier_targets = 0;  // threads the heavy barrier under way has yet to reach
  bool in_barrier = false;
  bool finished = false;
  std::uint16_t idle_spins = 0;
  Knowledge known;
  Knowledge released;    // at the last fence: what relaxed stores publish
  Knowledge unacquired;  // from relaxed loads: what the next fence acquires
  std::vector<Buffered> buffer;
  friend bool operator==(const ThreadState&, const ThreadState&) = default;
};

struct LocationState {
  std::vector<Message> messages;      // what somebody may still read, oldest first; never empty
  std::uint8_t writer = kMaxThreads;  // of a cell: the last one, and when
  std::uint16_t written = 0;
  Clock read{};  // of a cell: by each thread since then
  friend bool operator==(const LocationState&, const LocationState&) = default;
};

struct State {
  std::vector<std::uint32_t> parts;  // threads, then locations
  std::uint8_t last_thread = 0;      // these two only under a preemption bound
  std::uint32_t preemptions = 0;
};

class Hasher {
 public:
  explicit Hasher(std::uint64_t multiplier = 0x9e3779b97f4a7c15ULL) : multiplier_(multiplier) {}
  void add(std::uint64_t word) {
    value_ = (value_ ^ word) * multiplier_;
    value_ ^= value_ >> 29;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t multiplier_;  // odd
  std::uint64_t value_ = 0x243f6a8885a308d3ULL;
};

std::uint64_t hash_of(const ThreadState& thread);
std::uint64_t hash_of(const LocationState& location);

template <class T>
class Interner {
 public:
  std::uint32_t intern(T&& value) {
    const auto [at, fresh] =
        ids_.try_emplace(std::move(value), static_cast<std::uint32_t>(values_.size()));
    if (fresh) values_.push_back(&at->first);
    return at->second;
  }
  const T& operator[](std::uint32_t id) const { return *values_[id]; }

 private:
  struct Hash {
    std::size_t operator()(const T& value) const { return hash_of(value); }
  };
  std::unordered_map<T, std::uint32_t, Hash> ids_;
  std::deque<const T*> values_;  // unordered_map keeps its nodes in place
};

struct Store {
  Interner<ThreadState> threads;
  Interner<LocationState> locations;
};

// A state being changed: parts are copied out when first edited, interned again by commit().
class Draft {
 public:
  Draft(Store& store, const State& base, unsigned threads_count)
      : store_(store), state_(base), threads_(threads_count) {}

  unsigned threads_count() const { return threads_; }
  LocationId locations_count() const {
    return static_cast<LocationId>(state_.parts.size()) - threads_;
  }
  const ThreadState& thread(unsigned id) const {
    for (const auto& [edited, value] : edited_threads_)
      if (edited == id) return value;
    return store_.threads[state_.parts[id]];
  }
  const LocationState& location(LocationId id) const {
    for (const auto& [edited, value] : edited_locations_)
      if (edited == id) return value;
    return store_.locations[state_.parts[threads_ + id]];
  }
  ThreadState& edit_thread(unsigned id);  // references live until commit()
  LocationState& edit_location(LocationId id);
  State commit();

 private:
  Store& store_;
  State state_;
  unsigned threads_;
  std::deque<std::pair<unsigned, ThreadState>> edited_threads_;
  std::deque<std::pair<LocationId, LocationState>> edited_locations_;
};

}  // namespace photon::checker
