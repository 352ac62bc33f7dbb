#include "checker/memory.hpp"

#include <algorithm>

namespace photon::checker {

bool buffers(const Draft& draft, unsigned thread, LocationId location) {
  const auto& buffer = draft.thread(thread).buffer;
  return std::any_of(buffer.begin(), buffer.end(),
                     [&](const Buffered& entry) { return entry.location == location; });
}

std::uint64_t visible(const Draft& draft, unsigned thread, LocationId location) {
  const auto& buffer = draft.thread(thread).buffer;
  for (auto entry = buffer.rbegin(); entry != buffer.rend(); ++entry)
    if (entry->location == location) return entry->value;
  return draft.location(location).messages.back().value;
}

unsigned choices(const Draft& draft, unsigned thread, const Operation& load) {
  const auto& view = draft.thread(thread).known.view;
  // A seq_cst load is modelled too strong: it reads the newest value. Nothing relies on less.
  if (load.order == std::memory_order_seq_cst || view.empty() ||
      buffers(draft, thread, load.location))
    return 1;
  const auto& messages = draft.location(load.location).messages;
  return static_cast<unsigned>(
      std::count_if(messages.begin(), messages.end(),
                    [&](const Message& m) { return m.time >= view[load.location]; }));
}

std::uint64_t Memory::load(unsigned thread, const Operation& op, unsigned choice) {
  if (buffers(draft_, thread, op.location)) return visible(draft_, thread, op.location);
  const auto& messages = draft_.location(op.location).messages;
  const Message& message = messages[messages.size() - 1 - choice];
  const std::uint64_t value = message.value;
  ThreadState& reader = draft_.edit_thread(thread);
  reader.known.raise(op.location, message.time);
  acquire(reader, message.known, op.order);
  return value;
}

void Memory::acquire(ThreadState& thread, const Knowledge& known, std::memory_order order) {
  if (acquires(order))
    thread.known.join(known);
  else if (has_fences_)
    thread.unacquired.join(known);
}

void Memory::store(unsigned thread, const Operation& op) {
  ThreadState& writer = draft_.edit_thread(thread);
  if (op.order == std::memory_order_seq_cst) {
    drain_all(thread);
    const std::uint16_t time = append(op.location, op.operand, writer.known);
    writer.known.raise(op.location, time);
    share_fence_order(thread);  // stronger than C++, as every machine we know is
    tick(thread);
    return;
  }
  const bool release = releases(op.order);
  writer.buffer.push_back(
      {op.location, release, op.operand, release ? writer.known : writer.released});
  if (release) tick(thread);
}

std::uint64_t Memory::modify(unsigned thread, const Operation& op) {
  while (buffers(draft_, thread, op.location)) drain(thread, op.location);
  const Message found = draft_.location(op.location).messages.back();
  ThreadState& actor = draft_.edit_thread(thread);
  actor.known.raise(op.location, found.time);
  const bool failed = op.kind == OpKind::compare_exchange && found.value != op.expected;
  if (failed) {
    acquire(actor, found.known, op.failure_order);
    return found.value;
  }
  if (releases(op.order)) drain_all(thread);
  acquire(actor, found.known, op.order);
  Knowledge known = found.known;  // the release sequence goes on
  known.join(releases(op.order) ? actor.known : actor.released);
  const std::uint16_t time = append(op.location, modified(op, found.value), known);
  actor.known.raise(op.location, time);
  if (releases(op.order)) tick(thread);
  return found.value;
}

std::uint64_t Memory::event(unsigned thread, const Operation& op) {
  full_fence(thread);
  Operation inner = op;
  inner.order = std::memory_order_acq_rel;
  if (op.kind == OpKind::event_wait) return load(thread, inner, 0);
  inner.kind = op.kind == OpKind::event_write ? OpKind::fetch_add : OpKind::exchange;
  const std::uint64_t found = modify(thread, inner);
  full_fence(thread);
  return found;
}

void Memory::full_fence(unsigned thread) {
  drain_all(thread);
  ThreadState& actor = draft_.edit_thread(thread);
  actor.known.join(actor.unacquired);
  share_fence_order(thread);
  actor.released = actor.known;
  tick(thread);
}

void Memory::share_fence_order(unsigned thread) {
  if (!tracks_views(thread)) return;
  ThreadState& actor = draft_.edit_thread(thread);
  LocationState& fences = draft_.edit_location(draft_.locations_count() - 1);
  actor.known.join_view(actor.unacquired);
  actor.known.join_view(fences.messages.back().known);
  fences.messages.back().known.join_view(actor.known);
  actor.released.join_view(actor.known);
}

void Memory::interrupt(unsigned caller, unsigned target) {
  drain_all(caller);
  drain_all(target);
  share_fence_order(caller);
  share_fence_order(target);
  share_fence_order(caller);
}

void Memory::catch_up(unsigned thread, LocationId location) {
  if (!tracks_views(thread)) return;
  const std::uint16_t newest = draft_.location(location).messages.back().time;
  draft_.edit_thread(thread).known.raise(location, newest);
}

void Memory::drain(unsigned thread, LocationId location) {
  const auto& buffer = draft_.thread(thread).buffer;
  std::size_t index = 0;
  while (buffer[index].location != location) ++index;
  if (buffer[index].release)
    for (; index > 0; --index) drain_entry(thread, 0);
  drain_entry(thread, index);
}

void Memory::drain_all(unsigned thread) {
  while (!draft_.thread(thread).buffer.empty()) drain_entry(thread, 0);
}

void Memory::drain_entry(unsigned thread, std::size_t index) {
  ThreadState& writer = draft_.edit_thread(thread);
  const auto at = writer.buffer.begin() + static_cast<std::ptrdiff_t>(index);
  const Buffered entry = *at;
  const auto after = writer.buffer.erase(at);
  const std::uint16_t time = append(entry.location, entry.value, entry.known);
  writer.known.raise(entry.location, time);
  // Stores that release later publish this one too; its place in the order was not known before.
  for (auto later = after; later != writer.buffer.end(); ++later)
    if (later->release) later->known.raise(entry.location, time);
}

std::uint16_t Memory::append(LocationId location, std::uint64_t value, const Knowledge& known) {
  LocationState& target = draft_.edit_location(location);
  if (known.view.empty()) {  // only the newest value can be read
    target.messages = {Message{value, 0, known}};
    return 0;
  }
  const auto time = static_cast<std::uint16_t>(target.messages.back().time + 1);
  target.messages.push_back({value, time, known});
  target.messages.back().known.raise(location, time);
  return time;
}

void Memory::tick(unsigned thread) {
  std::uint16_t& own = draft_.edit_thread(thread).known.clock[thread];
  if (own != 0) ++own;  // 0: clocks are not tracked
}

bool Memory::cell_get(unsigned thread, const Operation& op, std::uint64_t& value) {
  const Clock clock = draft_.thread(thread).known.clock;
  LocationState& cell = draft_.edit_location(op.location);
  value = cell.messages.back().value;
  cell.read[thread] = clock[thread];
  return cell.writer == kMaxThreads || cell.written <= clock[cell.writer];
}

bool Memory::cell_set(unsigned thread, const Operation& op) {
  const Clock clock = draft_.thread(thread).known.clock;
  LocationState& cell = draft_.edit_location(op.location);
  bool ordered = cell.writer == kMaxThreads || cell.written <= clock[cell.writer];
  for (unsigned other = 0; other < kMaxThreads; ++other)
    ordered = ordered && cell.read[other] <= clock[other];
  cell.messages.back().value = op.operand;
  cell.writer = static_cast<std::uint8_t>(thread);
  cell.written = clock[thread];
  cell.read = {};
  return ordered;
}

void Memory::forget_unreadable() {
  if (!tracks_views(0)) return;
  for (LocationId location = 0; location + 1 < draft_.locations_count(); ++location) {
    const auto& messages = draft_.location(location).messages;
    std::uint16_t oldest = messages.back().time;
    for (unsigned thread = 0; thread < draft_.threads_count(); ++thread)
      if (!draft_.thread(thread).finished)
        oldest = std::min(oldest, draft_.thread(thread).known.view[location]);
    if (messages.front().time < oldest)
      std::erase_if(draft_.edit_location(location).messages,
                    [&](const Message& m) { return m.time < oldest; });
  }
}

}  // namespace photon::checker
