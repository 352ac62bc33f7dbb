#include "converse/collect/collect.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <vector>

#include "converse/collect/pup.hpp"

namespace photon::converse {

namespace {

enum class ReductionName : std::uint64_t { message = 1, structure = 2 };

constexpr std::uint32_t kBranches = 4;  // of the tree of processes of ph_task_reduce()

StructPart& part_in(ph_task_message* message) noexcept {
  return *static_cast<StructPart*>(ph_task_body(message));
}

ph_task_reduction reduction_to_first(ReductionName name, ph_task_merge merge) noexcept {
  ph_task_reduction reduction{};
  reduction.size = sizeof reduction;
  reduction.merge = merge;
  reduction.name = static_cast<std::uint64_t>(name);
  return reduction;
}

std::size_t measured(void* data, CmiReducePupFn pup) {
  Pup sizer = Pup::sizer();
  pup(&sizer, data);
  return sizer.used();
}

int size_for_merge(std::uint64_t size_bytes) noexcept {
  if (size_bytes > INT_MAX)
    refuse("CmiReduce", "a part of %llu bytes: merge functions take an int",
           static_cast<unsigned long long>(size_bytes));
  return static_cast<int>(size_bytes);
}

// Its first `size` bytes in a message of their own.
void* copied(Pe& pe, const char* call, const void* message, CmiInt8 size) {
  void* const copy = allocate(pe, call, size);
  std::memcpy(copy, message, static_cast<std::size_t>(size));
  return copy;
}

void expect_memory(const char* call, CmiInt8 size, void* message) {
  check_message(call, size, message);
  if (const CmiInt8 allocated = CmiSize(message); size > allocated)
    refuse(call, "a message of %lld bytes that has memory for %lld: CmiAlloc() a larger one",
           static_cast<long long>(size), static_cast<long long>(allocated));
}

Collect& collect_of(Pe& pe) noexcept { return *static_cast<Collect*>(pe.parts.collect); }

}  // namespace

Collect::Collect(Pe& pe) noexcept
    : pe_(pe), structure_(enroll(pe, take_structure)), quiescence_(enroll(pe, take_quiescence)) {}

void Collect::contribute(const char* call, Over over, ph_task_message* message,
                         const ph_task_reduction& reduction) {
  require(pe_, call,
          over == Over::pes ? ph_task_reduce(pe_.task, message, &reduction)
                            : ph_task_reduce_node(pe_.task, message, &reduction));
}

void Collect::reduce(const char* call, Over over, void* message, CmiReduceMergeFn merge) {
  if (merge == nullptr) refuse(call, "the merge function is null");
  mark_sent(pe_, header_of(message));
  ph_task_set_handler(task_of(message), pe_.dispatch);
  ph_task_reduction reduction = reduction_to_first(ReductionName::message, merge_messages);
  reduction.user = reinterpret_cast<void*>(merge);
  contribute(call, over, task_of(message), reduction);
}

// The library frees all but the result. So a local message that is not the result gets a reference
// more, for then it is the merge function's to free or to keep.
ph_task_message* Collect::merge_messages(ph_task_pe* task, ph_task_message* own,
                                         ph_task_message** others, std::uint32_t count,
                                         void* user) {
  Pe& pe = here("CmiReduce");
  const auto merge = reinterpret_cast<CmiReduceMergeFn>(user);
  void* const local = message_of(own);
  const Header header = header_of(local);
  std::vector<void*> remote(count);
  for (std::uint32_t i = 0; i < count; ++i) remote[i] = message_of(others[i]);
  require(pe, "CmiReduce", ph_task_retain(task, own));
  int size = size_for_merge(ph_task_size(own));
  void* result = merge(&size, local, remote.data(), static_cast<int>(count));
  if (result == nullptr) refuse("CmiReduce", "the merge function has returned null");
  expect_memory("CmiReduce", size, result);
  if (result == local) require(pe, "CmiReduce", ph_task_free(task, own));
  if (size != CmiSize(result)) {
    void* const whole = result;
    result = copied(pe, "CmiReduce", whole, size);
    const bool is_argument =
        whole == local || std::find(remote.begin(), remote.end(), whole) != remote.end();
    if (!is_argument) CmiFree(whole);
  }
  header_of(result) = header;
  ph_task_set_handler(task_of(result), pe.dispatch);
  return task_of(result);
}

// Is something merged into the part of this PE? Parts are merged on the first PE of a process
// alone; processes have four others below them.
bool Collect::has_others_below(Over over) const noexcept {
  const ph_task_place& place = pe_.place;
  const bool has_below = std::uint64_t{place.process} * kBranches + 1 < place.processes;
  if (over == Over::processes) return has_below;
  return place.rank == 0 && (has_below || place.pes_per_process > 1);
}

ph_task_message* Collect::part_of(const StructPart& part, std::size_t packed_bytes) {
  ph_task_message* message = nullptr;
  require(pe_, "CmiReduceStruct",
          ph_task_alloc(pe_.task, sizeof(StructPart) + packed_bytes, &message));
  ph_task_set_handler(message, structure_);
  part_in(message) = part;
  return message;
}

ph_task_message* Collect::packed(void* data, const ReducedFunctions& functions) {
  const std::size_t size_bytes = measured(data, functions.pup);
  ph_task_message* const message = part_of({1, nullptr, functions}, size_bytes);
  Pup packer = Pup::to(&part_in(message) + 1, size_bytes);
  functions.pup(&packer, data);
  if (packer.used() != size_bytes)
    refuse("CmiReduceStruct", "the pup function has packed %zu bytes and measured %zu",
           packer.used(), size_bytes);
  if (functions.remove != nullptr) functions.remove(data);
  return message;
}

void Collect::reduce_struct(const char* call, Over over, void* data,
                            const ReducedFunctions& functions) {
  if (functions.pup == nullptr || functions.merge == nullptr || functions.destination == nullptr)
    refuse(call, "the pup function, the merge function or the destination is null");
  const bool is_root = pe_.place.process == 0 && (over == Over::processes || pe_.place.rank == 0);
  const bool stays = is_root || has_others_below(over);
  contribute(call, over, stays ? part_of({0, data, functions}, 0) : packed(data, functions),
             reduction_to_first(ReductionName::structure, merge_structs));
}

ph_task_message* Collect::merge_structs(ph_task_pe* /*task*/, ph_task_message* own,
                                        ph_task_message** others, std::uint32_t count,
                                        void* /*user*/) {
  constexpr const char* kCall = "CmiReduceStruct";
  Pe& pe = here(kCall);
  StructPart& part = part_in(own);
  if (part.is_packed != 0) refuse(kCall, "a broken invariant: a packed part is merged into");
  std::vector<void*> remote(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (ph_task_size(others[i]) < sizeof(StructPart) || part_in(others[i]).is_packed != 1)
      refuse(kCall, "a broken invariant: a part of another PE is not packed");
    remote[i] = &part_in(others[i]) + 1;
  }
  int size = size_for_merge(measured(part.data, part.functions.pup));
  part.data = part.functions.merge(&size, part.data, remote.data(), static_cast<int>(count));
  if (part.data == nullptr) refuse(kCall, "the merge function has returned null");
  return pe.place.process == 0 ? own : collect_of(pe).packed(part.data, part.functions);
}

void Collect::take_structure(ph_task_pe* task, ph_task_message* message, void* user) {
  const StructPart part = part_in(message);
  Pe& pe = *static_cast<Pe*>(user);
  require(pe, "CmiReduceStruct", ph_task_free(task, message));
  if (pe.is_leaving) return;
  if (part.is_packed != 0) refuse("CmiReduceStruct", "a broken invariant: the result is packed");
  run_job(pe, {[](Pe& /*own*/, const Job& job) {
                 reinterpret_cast<CmiHandler>(job.function)(job.argument);
               },
               reinterpret_cast<void (*)()>(part.functions.destination), part.data});
}

void Collect::ask_quiescence(CmiQdFn function, void* user) {
  if (function == nullptr) refuse("CmiStartQD", "the function is null");
  asked_.push_back({function, user});
  require(pe_, "CmiStartQD", ph_task_quiesce(pe_.task, quiescence_));
}

void Collect::take_quiescence(ph_task_pe* task, ph_task_message* message, void* user) {
  Pe& pe = *static_cast<Pe*>(user);
  require(pe, "CmiStartQD", ph_task_free(task, message));
  std::deque<Quiet>& asked = collect_of(pe).asked_;
  const Quiet first = asked.front();  // which may ask again
  asked.pop_front();
  if (pe.is_leaving) return;
  run_job(pe, {[](Pe& /*own*/, const Job& job) {
                 reinterpret_cast<CmiQdFn>(job.function)(job.argument);
               },
               reinterpret_cast<void (*)()>(first.function), first.user});
}

void start_collect(Pe& pe) { pe.parts.collect = new Collect(pe); }

void reduce_message(const char* call, Over over, void* message, int size, CmiReduceMergeFn merge) {
  Pe& pe = here(call);
  expect_memory(call, size, message);
  void* part = message;
  if (size != CmiSize(message)) {
    part = copied(pe, call, message, size);
    CmiFree(message);
  }
  collect_of(pe).reduce(call, over, part, merge);
}

void reduce_structure(const char* call, Over over, void* data, const ReducedFunctions& functions) {
  collect_of(here(call)).reduce_struct(call, over, data, functions);
}

}  // namespace photon::converse
