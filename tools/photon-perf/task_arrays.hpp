// One of two PEs that send arrays to and fro: as messages, packed by the sender and copied out by
// the receiver, or as buffers, which are put or got where they are (docs/tasks.md).
//
//   joined -- lend() --> both sides know each other's buffers -- put(), get(), pack() --> the same
//          lent -- take_back() --> joined
//
// Invariant: both sides make the same calls, with the same counts; index 0 of the team returns
// figures. A done that failed, or bytes that are not the message's own, end the rank with a
// Failure.
// Owner: a question; handlers of the PE name it as their user.
#pragma once

#include <photon/task_buffer.h>

#include <cstdint>
#include <vector>

#include "limits.hpp"
#include "statistics.hpp"
#include "team.hpp"

namespace photon::perf {

class TaskArrays {
 public:
  // For all PEs, in this order; their user is the object of a PE, or the first of those of two PEs
  // of a process.
  static std::vector<ph_task_handler> handlers();

  void join(ph_task_pe* pe, std::uint32_t other_pe) noexcept;
  ph_task_pe* pe() const noexcept { return pe_; }

  // Source and first landing of `buffers`, which stay until take_back(), are made buffers with that
  // registration, for as many operations as there come.
  void lend(Team& team, const Buffers& buffers, std::uint32_t registration);
  void take_back();

  // One way, read: as ping_pong() of streams.hpp. The owner of a source rewrites it when its
  // source-done has come.
  Outcome put(std::uint64_t round_trips);
  Outcome get(std::uint64_t round_trips);  // whoever reads is told by a message without a body
  Outcome pack(std::uint64_t round_trips);
  // As get(), but a message brings the descriptor: of the source that was lent, or of a buffer that
  // is made for this message and given back when it was read.
  Outcome offer(std::uint64_t round_trips, bool is_made_each_time);
  // Gets one by one, from the call of index 0 until it has read the bytes. Meanwhile the owner runs
  // tasks, or waits in ph_task_barrier(), for which these two are the only PEs.
  Outcome get_each(std::uint64_t count, bool from_barrier);

 private:
  template <class Send>
  Outcome exchange(std::uint64_t round_trips, bool is_lent, Send send);
  static void on_left(ph_task_pe* pe, ph_task_message* message, void* user);
  static void on_come(ph_task_pe* pe, ph_task_message* message, void* user);
  static void on_ready(ph_task_pe* pe, ph_task_message* message, void* user);
  static void on_offer(ph_task_pe* pe, ph_task_message* message, void* user);
  static void on_packed(ph_task_pe* pe, ph_task_message* message, void* user);
  ph_task_buffer make(std::byte* base, std::uint32_t registration, std::uint32_t deregistration);
  void give_back_once();
  void fetch(const ph_task_descriptor& source);
  void let_be_read(std::uint64_t count, bool from_barrier);
  void take_done(ph_task_message* message);
  // Tasks until so many dones of that side, or messages, have been met.
  void run_until(const std::uint64_t& met, std::uint64_t wanted);

  ph_task_pe* pe_ = nullptr;
  std::uint32_t other_pe_ = 0;
  Team* team_ = nullptr;
  const Buffers* buffers_ = nullptr;
  ph_task_buffer source_ = 0;
  ph_task_buffer landing_ = 0;
  ph_task_buffer once_ = 0;  // made for the latest message
  ph_task_descriptor peer_source_{};
  ph_task_descriptor peer_landing_{};
  std::uint64_t left_ = 0;    // source-dones
  std::uint64_t come_ = 0;    // destination-dones, and messages copied out
  ph_status failed_ = PH_OK;  // of a done
};

}  // namespace photon::perf
