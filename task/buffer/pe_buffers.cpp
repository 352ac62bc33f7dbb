#include "task/buffer/pe_buffers.hpp"

namespace photon::task {

namespace {

constexpr std::uint8_t kVersion = 1;
constexpr std::int64_t kWhileWaitingUs = 50;      // room at a target is no news
constexpr std::int64_t kWhileAwaitedUs = 10'000;  // nor is that a peer is lost

}  // namespace

// Peers may be at their operations still, and nothing tells: their copies are waited for.
Buffers::~Buffers() {
  underway.drain([&](Message& record) {
    const Operation& operation = operation_of(record);
    const bool has_pending = operation.feeds == Feeds::feeding || operation.feeds == Feeds::fed;
    if (has_pending) pe.pool().free(*operation.pending);
    pe.pool().free(record);
  });
  handles.each([&](Handle& handle) {
    Registration& held = handle.registration;
    if (held.key != 0 && held.of == Registration::Of::own) deregister_at_end(lane(), held.key);
  });
  registrations.end(lane());
}

void Buffers::watch() noexcept {
  std::int64_t most_us = 0;
  if (awaited.any()) most_us = kWhileAwaitedUs;
  if (waiting.any()) most_us = kWhileWaitingUs;
  pe.machine().rdma().watch_us = most_us;
}

void Buffers::leave() noexcept {
  if (underway.count() == 0) return;
  inform(pe,
         "%zu operations on buffers had not had their done at its end, %zu of them turned round",
         underway.count(), underway.count(EndName::Says::turned));
}

void Buffers::count(ph_task_counts& counts) const noexcept {
  counts.operations = operations;
  counts.turned = turned;
  counts.stale_dones = stale_dones;
  counts.cache_hits = registrations.hits();
  counts.cache_misses = registrations.misses();
  counts.cache_evictions = registrations.evictions();
}

bool is_of_buffer(Buffers& buffers, std::uint64_t key) noexcept {
  const Registrations& registrations = buffers.registrations;
  if (!registrations.may_have_made(key)) [[likely]]
    return false;
  bool is_held = registrations.is_kept(key);
  buffers.handles.each([&](const Handle& handle) {
    const Registration& held = handle.registration;
    is_held |= held.key == key && held.of == Registration::Of::own;
  });
  return is_held;
}

ph_task_descriptor descriptor_of(const Pe& pe, const Handle& handle) noexcept {
  return {.address = reinterpret_cast<std::uintptr_t>(handle.address),
          .size_bytes = handle.size_bytes,
          .key = handle.registration.key,
          .pe = pe.number(),
          .slot = handle.slot,
          .generation = handle.generation,
          .registration = handle.when_registered,
          .deregistration = handle.when_given_back,
          .version = kVersion,
          .zero = 0,
          .reserved = 0};
}

bool is_sound(const ph_task_descriptor& descriptor, std::uint32_t pes_of_job) noexcept {
  const bool wraps = descriptor.address + descriptor.size_bytes < descriptor.address;
  const bool is_known = descriptor.registration <= PH_TASK_NOREG &&
                        descriptor.deregistration <= PH_TASK_NODEREG &&
                        descriptor.version == kVersion;
  const bool is_somewhere = descriptor.size_bytes == 0 || descriptor.address != 0;
  return !wraps && is_known && is_somewhere && descriptor.pe < pes_of_job &&
         descriptor.slot < kMostSlots && descriptor.generation != 0 &&
         descriptor.generation <= kMostGeneration && descriptor.zero == 0 &&
         descriptor.reserved == 0;
}

}  // namespace photon::task
