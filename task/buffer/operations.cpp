#include "task/buffer/operations.hpp"

#include <cstring>

#include "task/buffer/dones.hpp"
#include "task/buffer/issue.hpp"
#include "task/buffer/turns.hpp"

namespace photon::task {

namespace {

constexpr Verdict kRight{PH_OK, ""};

bool is_near(const Pe& pe, std::uint32_t number) noexcept {
  return number / pe.shared().pes == pe.shared().process;
}

// The other side, if it is of this process: what its PE shows of it, and more if it is ours.
Verdict check_near(Buffers& buffers, Verb verb, const ph_task_descriptor& other) noexcept {
  Pe& pe = buffers.pe;
  const std::uint32_t rank = other.pe % pe.shared().pes;
  sync::RegionView view;
  const bool is_there =
      buffers_of(*pe.shared().all[rank]).handles.read(other.slot, other.generation, view);
  if (!is_there || view.address != other.address || view.size_bytes != other.size_bytes)
    return {PH_ERR_KEY, "the descriptor is stale: its buffer was freed, or is deregistered"};
  if (rank != pe.rank()) return kRight;
  const Handle& theirs = *buffers.handles.find(other.slot, other.generation);
  if (theirs.is_landing || (verb == Verb::put && theirs.reads != 0))
    return {PH_ERR_STATE, "an operation on the other buffer is not over: wait for its done"};
  return kRight;
}

std::byte* at(std::uint64_t address) noexcept {
  return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
}

// Both ends are memory of this process. The source's done comes first, if both are of one PE.
ph_status copy(Buffers& buffers, Handle& own, Message& record) noexcept {
  Pe& pe = buffers.pe;
  Operation& operation = operation_of(record);
  Message* told = make_told(
      buffers,
      {.id = operation.remote, .moved_bytes = operation.moved_bytes, .status = PH_OK, .zero = 0});
  if (told == nullptr) return PH_ERR_MEMORY;
  EndName name{};
  if (!buffers.underway.add(record, EndName::Says::ended, name)) {
    pe.pool().free(*told);
    return PH_ERR_MEMORY;
  }
  operation.local = id_of(name);
  const bool is_get = operation.verb == Verb::get;
  const ph_task_descriptor& source = is_get ? operation.other : operation.own;
  const ph_task_descriptor& destination = is_get ? operation.own : operation.other;
  pe.balance().created += 2;
  hold(own, operation.verb);
  if (operation.moved_bytes != 0)  // the two may overlap
    std::memmove(at(destination.address), at(source.address), operation.moved_bytes);
  const std::uint32_t rank = operation.other.pe % pe.shared().pes;
  if (!is_get) tell_own(buffers, record);
  tell_near(buffers, rank, *told, pe.number());
  if (is_get) tell_own(buffers, record);
  return PH_OK;
}

ph_status start(Buffers& buffers, Handle& own, Message& record) noexcept {
  const Operation& operation = operation_of(record);
  if (is_near(buffers.pe, operation.other.pe)) return copy(buffers, own, record);
  if (operation.other.key == 0 && operation.moved_bytes != 0) return ask(buffers, own, record);
  return issue(buffers, own, record) ? PH_OK : PH_ERR_MEMORY;
}

}  // namespace

Verdict check_own(Verb verb, const Handle& own) noexcept {
  if (own.when_registered == PH_TASK_NOREG)
    return {PH_ERR_ACCESS, "the own buffer is PH_TASK_NOREG: make it with another registration"};
  if (own.is_cut)
    return {PH_ERR_KEY, "the own buffer is deregistered: call ph_task_buffer_register() first"};
  if (own.is_landing)
    return {PH_ERR_STATE, "another operation lands in the own buffer: wait for its done"};
  if (verb == Verb::get && own.reads != 0)
    return {PH_ERR_STATE, "the own buffer is the source of an operation: wait for its done"};
  return kRight;
}

Verdict check(Buffers& buffers, Verb verb, const Handle& own,
              const ph_task_descriptor& other) noexcept {
  const Shared& shared = buffers.pe.shared();
  if (other.pe >= shared.pes_of_job())
    return {PH_ERR_RANK, "the descriptor names a PE that the job does not have"};
  if (!is_sound(other, shared.pes_of_job()))
    return {PH_ERR_ARGUMENT, "no descriptor can be so: take one of ph_task_buffer_describe()"};
  if (const Verdict verdict = check_own(verb, own); verdict.status != PH_OK) return verdict;
  if (other.registration == PH_TASK_NOREG)
    return {PH_ERR_ACCESS, "the other buffer is PH_TASK_NOREG: its owner makes it otherwise"};
  const std::uint64_t source = verb == Verb::get ? other.size_bytes : own.size_bytes;
  const std::uint64_t destination = verb == Verb::get ? own.size_bytes : other.size_bytes;
  if (destination < source) return {PH_ERR_RANGE, "the destination is smaller than the source"};
  if (is_near(buffers.pe, other.pe)) return check_near(buffers, verb, other);
  if (other.key == 0 && other.size_bytes != 0 && other.registration != PH_TASK_UNREG)
    return {PH_ERR_KEY, "the other buffer is deregistered: its owner describes it again"};
  return kRight;
}

ph_status begin(Buffers& buffers, Verb verb, Handle& own,
                const ph_task_descriptor& other) noexcept {
  Message* record = make_record(buffers, {verb, own, other});
  if (record == nullptr) return PH_ERR_MEMORY;
  const ph_status status = start(buffers, own, *record);
  if (status == PH_OK)
    ++buffers.operations;
  else
    buffers.pe.pool().free(*record);
  return status;
}

}  // namespace photon::task
