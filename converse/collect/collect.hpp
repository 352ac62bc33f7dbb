// Reductions and quiescence of one PE.
//
//   part: CmiReduce() --> with libphoton_task, which gathers those of a process at its first PE
//         gathered, and there are others --> merged by the program's function
//         merged on process 0 --> the handler of the result, on PE 0;  elsewhere --> a part again
//
// Parts are messages of ph_task_reduce() and ph_task_reduce_node(), of which each kind has a name
// of its own. A part by value is the program's message. One by structure is a StructPart: the
// structure itself where others are merged into it, and else its packed bytes behind.
// Invariant: a StructPart that leaves its process is packed. Owner: the PE (Pe::parts.collect).
// Threads: its PE's; a structure of CmiNodeReduceStruct() is merged on the first PE of its process.
#pragma once

#include <converse.h>
#include <photon/task.h>

#include <cstdint>
#include <deque>

#include "converse/base/pe.hpp"

namespace photon::converse {

struct ReducedFunctions {
  CmiReducePupFn pup;
  CmiReduceMergeFn merge;
  CmiHandler destination;
  CmiReduceDeleteFn remove;  // may be null
};

// The body of a part. What a peer wrote is not read, but for `is_packed` and the bytes behind.
struct alignas(64) StructPart {
  std::uint64_t is_packed;
  void* data;  // of this process; null once it is packed
  ReducedFunctions functions;
};
static_assert(sizeof(StructPart) == 64);

enum class Over : std::uint8_t { pes, processes };

class Collect {
 public:
  explicit Collect(Pe& pe) noexcept;
  Collect(const Collect&) = delete;
  Collect& operator=(const Collect&) = delete;

  void reduce(const char* call, Over over, void* message, CmiReduceMergeFn merge);
  void reduce_struct(const char* call, Over over, void* data, const ReducedFunctions& functions);
  // Throws bad_alloc.
  void ask_quiescence(CmiQdFn function, void* user);

 private:
  struct Quiet {
    CmiQdFn function;
    void* user;
  };

  static ph_task_message* merge_messages(ph_task_pe* task, ph_task_message* own,
                                         ph_task_message** others, std::uint32_t count, void* user);
  static ph_task_message* merge_structs(ph_task_pe* task, ph_task_message* own,
                                        ph_task_message** others, std::uint32_t count, void* user);
  static void take_structure(ph_task_pe* task, ph_task_message* message, void* user);
  static void take_quiescence(ph_task_pe* task, ph_task_message* message, void* user);
  ph_task_message* part_of(const StructPart& part, std::size_t packed_bytes);
  ph_task_message* packed(void* data, const ReducedFunctions& functions);
  void contribute(const char* call, Over over, ph_task_message* message,
                  const ph_task_reduction& reduction);
  bool has_others_below(Over over) const noexcept;

  Pe& pe_;
  std::uint32_t structure_;   // the handler of a structure that was merged
  std::uint32_t quiescence_;  // and that of quiescence
  std::deque<Quiet> asked_;   // and not answered yet, in the order of the calls
};

// The calls of the program; `size` may be less than the message has.
void reduce_message(const char* call, Over over, void* message, int size, CmiReduceMergeFn merge);
void reduce_structure(const char* call, Over over, void* data, const ReducedFunctions& functions);

// By the thread of the PE, which is current() then. It stays until the process ends.
void start_collect(Pe& pe);

}  // namespace photon::converse
