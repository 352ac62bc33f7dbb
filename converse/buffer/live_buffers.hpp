// The buffers that this PE's objects of CmiNcpyBuffer name.
//
//   none -- make() --> live -- end(): deregisterMem(), or CMK_BUFFER_DEREG and the done of an
//                              operation, when no other one that was begun, or issued, here is
//                              left --> none
//   live -- the PE ends --> none, with all of libphoton_task
//
// An object is plain data: its LayerInfo names a place of this table, and the buffer that the place
// must have for the name to hold. Names of buffers are never used again, so a copy that has
// outlived its buffer finds none. Invariant: each live place has one ph_task_buffer, whose `user`
// is that place. Owner: the Buffers of a PE. Threads: that of the PE.
#pragma once

#include <photon/task_buffer.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "converse/base/pe.hpp"
#include "converse/buffer/done_counts.hpp"

namespace photon::converse {

// The program's 64 bytes have this, in objects and in what LrtsSetRdmaBufferInfo() fills. They
// travel: the descriptor is checked by libphoton_task, and the rest by the PE that made it.
struct LayerInfo {
  ph_task_descriptor descriptor;
  ph_task_buffer buffer;  // 0: none was made
  std::uint32_t place;
  std::uint32_t dones;  // in an ack: what the buffer has to have heard (done_counts.hpp); else 0
};
static_assert(sizeof(LayerInfo) == CMK_NOCOPY_DIRECT_BYTES);

// An operation with acks that was begun here and is not over.
struct Pending {
  NcpyOperationInfo* info;
  ph_task_descriptor other;
  bool is_lent;  // the info is of the library
  Pending* next;
};

struct Live {
  ph_task_buffer buffer = 0;  // 0: the place is free
  const void* ptr = nullptr;
  std::uint64_t size_bytes = 0;
  CmiHandler function = nullptr;  // who gets the dones, or:
  int handler = -1;               // an index; else nobody
  std::uint32_t place = 0;
  std::uint32_t own_operations = 0;    // begun here, and not over
  bool ends_by_itself = false;         // CMK_BUFFER_DEREG
  Pending* pending = nullptr;          // of own_operations, in the order of the calls
  HeardCounts heard;                   // dones of operations that others have begun
  std::vector<ph_task_message*> held;  // acks of peers that came before the done of their operation
};

// These words tell a program what to do about an operation with a buffer that has ended.
inline constexpr char kEndedWords[] =
    "one that several operations use is CMK_BUFFER_NODEREG, until deregisterMem(); the default "
    "ends with its first";

// A buffer is made of these.
struct BufferMaking {
  const void* ptr;
  std::uint64_t size_bytes;
  unsigned short registration;
  unsigned short deregistration;
  CmiHandler function = nullptr;
  int handler = -1;
};

class LiveBuffers {
 public:
  LiveBuffers() = default;
  LiveBuffers(const LiveBuffers&) = delete;
  LiveBuffers& operator=(const LiveBuffers&) = delete;

  // Words end the job if it cannot be made. `number` is of the handler of dones.
  Live& make(Pe& pe, const char* call, const BufferMaking& making, std::uint32_t number) noexcept;
  // Null: that buffer has ended, or was never one of this PE.
  Live* find(const Pe& pe, const LayerInfo& info) noexcept {
    if (info.buffer == 0 || info.descriptor.pe != pe.place.pe || info.place >= places_.size())
      return nullptr;
    Live* const live = places_[info.place].get();
    return live->buffer == info.buffer ? live : nullptr;
  }
  // Acks that it held are sent to the own PE.
  void end(Pe& pe, const char* call, Live& live) noexcept;
  // The same, unless an operation on it that was begun, or issued, here is not over.
  void end_if_unused(Pe& pe, const char* call, Live& live) noexcept;
  static void describe(Pe& pe, const char* call, const Live& live, LayerInfo& info) noexcept;

  Pending& add_pending(const char* call, Live& live, const Pending& pending) noexcept;
  // Returns the acks of the operation with this other side that was begun first. Null: it has none.
  static Pending* take_pending(Live& live, const ph_task_descriptor& other) noexcept;
  void free_pending(Pending& pending) noexcept;

 private:
  Live& take_place(const char* call) noexcept;
  void take_back(Pe& pe, const char* call, Live& live) noexcept;

  std::vector<std::unique_ptr<Live>> places_;
  std::vector<std::uint32_t> free_;  // room for all places
  std::deque<Pending> pendings_;
  Pending* free_pendings_ = nullptr;
};

}  // namespace photon::converse
