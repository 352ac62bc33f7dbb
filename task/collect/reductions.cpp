#include "task/collect/reductions.hpp"

#include <algorithm>
#include <cstring>

#include "task/pool/embedded.hpp"
#include "task/run/relay.hpp"
#include "task/run/sends.hpp"

namespace photon::task {

namespace {

constexpr std::uint32_t kNoPlace = ~std::uint32_t{0};

ph_task_message* handle(Message& message) noexcept {
  return reinterpret_cast<ph_task_message*>(&message);
}
// The marks tell, as far as they can: memory that was given away may serve something else by now.
// Who frees an embedded message leaves its marks, and changes those of the enclosing one.
bool is_kept(Message& message) noexcept {
  return is_held(message) && chunk_of(enclosing(message)).mark == Mark::live;
}
// The size of an embedded message says nothing of its room.
bool is_longer_than_its_room(const Message& message) noexcept {
  const Chunk& chunk = chunk_of(message);
  return chunk.mark == Mark::live && message.size_bytes > chunk.room_bytes;
}
Message& of(ph_task_message* message) noexcept { return *reinterpret_cast<Message*>(message); }

}  // namespace

Reductions::Reductions(Pe& pe, CallNumbers& of_process)
    : pe_(pe),
      of_process_(of_process),
      below_(Route(0, pe.shared().processes).children_of(pe.shared().process)) {}

Reductions::~Reductions() {
  for (const auto& [key, gathered] : gathered_)
    for (ph_task_message* part : gathered.parts)
      if (part != nullptr) pe_.pool().free(of(part));
}

// The own part of the process, those of siblings, those of the processes below.
std::uint32_t Reductions::places_of(Scope scope) const noexcept {
  return (scope == Scope::pes ? pe_.shared().pes : 1) + below_.count;
}

std::uint32_t Reductions::place_of(const Message& message, Scope scope) const noexcept {
  const Shared& shared = pe_.shared();
  const std::uint32_t process = message.source / shared.pes;
  const std::uint32_t rank = message.source % shared.pes;
  if (process == shared.process) return scope == Scope::pes ? rank : 0;
  for (std::uint32_t i = 0; i < below_.count && rank == 0; ++i)
    if (below_.first + i == process) return (scope == Scope::pes ? shared.pes : 1) + i;
  return kNoPlace;
}

// Null: no memory.
Message* Reductions::wrapped(const Message& message, const Front& front) noexcept {
  Message* part = pe_.pool().alloc(sizeof front + message.size_bytes);
  if (part == nullptr) return nullptr;
  std::memcpy(body_of(*part), &front, sizeof front);
  std::memcpy(body_of(*part) + sizeof front, &message + 1, message.size_bytes);
  return part;
}

ph_status Reductions::lost_neighbour() const noexcept {
  const Shared& shared = pe_.shared();
  const auto state_of = [this](std::uint32_t process) {
    ph_contact_state state = PH_PEER_UNKNOWN;
    static_cast<void>(ph_peer_state(pe_.machine().lane(), process, &state));
    if (state == PH_PEER_DEAD) return PH_ERR_PEER;
    return state == PH_PEER_DEPARTED ? PH_ERR_DEPARTED : PH_OK;
  };
  for (std::uint32_t i = 0; i < below_.count; ++i)
    if (const ph_status status = state_of(static_cast<std::uint32_t>(below_.first + i));
        status != PH_OK)
      return status;
  return shared.process == 0 ? PH_OK : state_of(above());
}

ph_status Reductions::contribute(Scope scope, std::uint64_t name, const Reduction& reduction,
                                 Message& message) {
  if (const ph_status lost = lost_neighbour(); lost != PH_OK) return lost;
  Front front{{scope, name, 0}, message.wire.handler, 0, reduction};
  Message* part = wrapped(message, front);
  if (part == nullptr) return PH_ERR_MEMORY;
  try {
    front.key.number = (scope == Scope::pes ? own_ : of_process_).next(name);
  } catch (const std::bad_alloc&) {
    pe_.pool().free(*part);
    return PH_ERR_MEMORY;
  }
  std::memcpy(body_of(*part), &front, sizeof front);
  pe_.pool().free(message);
  const Shared& shared = pe_.shared();
  return send_of_kind(pe_, Kind::part, shared.process * shared.pes, *part);
}

void Reductions::take(Message& message) {
  Front front{};
  if (message.size_bytes >= sizeof front) std::memcpy(&front, body_of(message), sizeof front);
  const bool is_sound =
      message.size_bytes >= sizeof front && pe_.rank() == 0 && front.key.scope <= Scope::processes;
  const std::uint32_t place = is_sound ? place_of(message, front.key.scope) : kNoPlace;
  if (place == kNoPlace) {  // a peer has sent it
    pe_.pool().free(message);
    return;
  }
  Gathered& gathered = gathered_[front.key];
  if (gathered.parts.empty()) {
    gathered.parts.resize(places_of(front.key.scope));
    gathered.missing = gathered.parts.size();
  }
  if (gathered.parts[place] != nullptr) {  // that, too
    pe_.pool().free(message);
    return;
  }
  if (place == 0) gathered.reduction = front.reduction;
  gathered.parts[place] = handle(
      embed(message, 0,
            {message.size_bytes - kFrontBytes, front.handler, message.source, Kind::program}));
  if (--gathered.missing != 0) return;
  const auto all = gathered_.extract(front.key);
  Message& result = merged(all.key(), all.mapped());
  hand_on(all.key(), all.mapped().reduction, result);
}

void Reductions::expect_fixed(const Gathered& gathered, const Message& message) const noexcept {
  const std::uint64_t fixed_bytes = gathered.reduction.fixed_bytes;
  if (fixed_bytes == 0 || message.size_bytes == fixed_bytes) return;
  Machine::die(
      "PE %u reduces structures of %llu bytes, and has one of %llu: give all the same size, and "
      "let the merge function keep it, or use ph_task_reduce()",
      pe_.number(), static_cast<unsigned long long>(fixed_bytes),
      static_cast<unsigned long long>(message.size_bytes));
}

// What a merge function of the program may not do ends the process: there is no call to refuse.
void Reductions::expect_sound(const Key& key, const Gathered& gathered,
                              ph_task_message* result) const noexcept {
  const char* what = nullptr;
  if (result == nullptr)
    what = "has returned null: return one of its arguments, or a new message";
  else if (!is_kept(of(result)))
    what =
        "has returned what is no message, or is free, or was given away: return one of its "
        "arguments, or a new message";
  else if (is_longer_than_its_room(of(result)))
    what = "has returned a message that says more bytes than it has: make a new one of that size";
  for (ph_task_message* part : gathered.parts)
    if (what == nullptr && !is_kept(of(part)))
      what = "has freed or given away one of its arguments: the library frees them";
  if (what == nullptr) return;
  Machine::die("PE %u: the merge function of reduction %llu of name %llu %s", pe_.number(),
               static_cast<unsigned long long>(key.number),
               static_cast<unsigned long long>(key.name), what);
}

Message& Reductions::merged(const Key& key, const Gathered& gathered) {
  for (ph_task_message* part : gathered.parts) expect_fixed(gathered, of(part));
  if (gathered.parts.size() == 1) return of(gathered.parts[0]);
  std::vector<ph_task_message*> others(gathered.parts.begin() + 1, gathered.parts.end());
  const Reduction& reduction = gathered.reduction;
  const Calls::Inside inside(pe_.calls());
  ph_task_message* result =
      reduction.merge(reinterpret_cast<ph_task_pe*>(&pe_), gathered.parts[0], others.data(),
                      static_cast<std::uint32_t>(others.size()), reduction.user);
  expect_sound(key, gathered, result);
  for (ph_task_message* part : gathered.parts)
    if (part != result) pe_.pool().free(of(part));
  expect_fixed(gathered, of(result));
  return of(result);
}

void Reductions::hand_on(const Key& key, const Reduction& reduction, Message& result) {
  const Shared& shared = pe_.shared();
  if (shared.process == 0) return deliver(key.scope, reduction, result);
  Message* part = wrapped(result, {key, result.wire.handler, 0, {}});
  if (part == nullptr)
    Machine::die("PE %u has no memory to pass on a reduction: reduce less", pe_.number());
  pe_.pool().free(result);
  const ph_status status = send_of_kind(pe_, Kind::part, above() * shared.pes, *part);
  if (status != PH_OK && !is_lost(status)) pe_.pool().free(*part);
}

void Reductions::deliver(Scope scope, const Reduction& reduction, Message& result) {
  if ((reduction.flags & PH_TASK_TO_ALL) == 0) {
    const ph_status status = send(pe_, reduction.to, result);
    if (status == PH_OK || is_lost(status)) return;
    Machine::die("PE %u could not send the result of a reduction to PE %u: %s", pe_.number(),
                 reduction.to, ph_status_text(status));
  }
  const std::uint32_t processes = scope == Scope::processes ? PH_TASK_TO_PROCESSES : 0;
  if (broadcast(pe_, result, PH_TASK_WITH_SELF | processes) != PH_OK)
    Machine::die("PE %u has no memory to send the result of a reduction to all", pe_.number());
  pe_.pool().free(result);
}

}  // namespace photon::task
