#include "checker/state.hpp"

namespace photon::checker {

namespace {

void add(Hasher& hasher, const Clock& clock) {
  std::uint64_t word = 0;
  for (const std::uint16_t count : clock) word = word << 16 | count;
  hasher.add(word);
}

void add(Hasher& hasher, const Knowledge& known) {
  add(hasher, known.clock);
  for (const std::uint16_t time : known.view) hasher.add(time);
}

}  // namespace

void Knowledge::join(const Knowledge& other) {
  for (unsigned i = 0; i < kMaxThreads; ++i) clock[i] = std::max(clock[i], other.clock[i]);
  join_view(other);
}

void Knowledge::join_view(const Knowledge& other) {
  if (view.size() < other.view.size()) view.resize(other.view.size());
  for (std::size_t i = 0; i < other.view.size(); ++i) view[i] = std::max(view[i], other.view[i]);
}

void Knowledge::raise(LocationId location, std::uint16_t time) {
  if (location < view.size()) view[location] = std::max(view[location], time);
}

std::uint64_t hash_of(const ThreadState& thread) {
  Hasher hasher;
  hasher.add(std::uint64_t{thread.node} << 32 | std::uint64_t{thread.idle_spins} << 16 |
             std::uint64_t{thread.barrier_targets} << 2 | (thread.finished ? 2 : 0) |
             (thread.in_barrier ? 1 : 0));
  add(hasher, thread.known);
  add(hasher, thread.released);
  add(hasher, thread.unacquired);
  for (const Buffered& store : thread.buffer) {
    hasher.add(std::uint64_t{store.location} << 1 | (store.release ? 1 : 0));
    hasher.add(store.value);
    add(hasher, store.known);
  }
  return hasher.value();
}

std::uint64_t hash_of(const LocationState& location) {
  Hasher hasher;
  for (const Message& message : location.messages) {
    hasher.add(message.value);
    hasher.add(message.time);
    add(hasher, message.known);
  }
  hasher.add(std::uint64_t{location.writer} << 16 | location.written);
  add(hasher, location.read);
  return hasher.value();
}

ThreadState& Draft::edit_thread(unsigned id) {
  for (auto& [edited, value] : edited_threads_)
    if (edited == id) return value;
  return edited_threads_.emplace_back(id, store_.threads[state_.parts[id]]).second;
}

LocationState& Draft::edit_location(LocationId id) {
  for (auto& [edited, value] : edited_locations_)
    if (edited == id) return value;
  return edited_locations_.emplace_back(id, store_.locations[state_.parts[threads_ + id]]).second;
}

State Draft::commit() {
  for (auto& [id, value] : edited_threads_)
    state_.parts[id] = store_.threads.intern(std::move(value));
  for (auto& [id, value] : edited_locations_)
    state_.parts[threads_ + id] = store_.locations.intern(std::move(value));
  return std::move(state_);
}

}  // namespace photon::checker
