// Asks targets whose memory this rank cannot reach by itself, on the lane of the server.
//
//   a ticket:  asked -- the answer, or the target's end --> over
//              asked -- the answer begins to land --> landing -- the library says how it ends -->
//              over
//
// Invariants: a ticket stays where it is until it is over. What a rank has refused, or has lost of
// what it was sent without a ticket, is told to the next who flushes to it. Owner: the server.
// Threads: any; the handler runs in whichever thread makes progress on the lane.
#pragma once

#include <photon/photon.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>

#include "interop/mpi/window/request.hpp"

namespace photon::mpi {

class Job;

class Asker {
 public:
  explicit Asker(Job& job) noexcept : job_(job) {}
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  bool begin(ph_context* lane) noexcept;  // false: the lane says why

  ph_context* lane() const noexcept { return lane_; }
  // Payloads up to that are copied when they are sent; of others the sender has to wait for the
  // target.
  std::size_t carried_bytes() const noexcept { return carried_bytes_; }

  // Sends a request, and waits for its answer, whose bytes go to `into`. False: the target has
  // ended or refuses, or there is no memory for the message.
  bool ask(ph_rank to, Request request, std::span<const ph_const_block> payload,
           std::span<std::byte> into) noexcept;
  // One to each of those ranks, at most kAtOnce, without payloads. False: one has ended or refuses.
  static constexpr std::size_t kAtOnce = 64;
  bool ask_all(std::span<const ph_rank> to, const Request& request) noexcept;
  // One without an answer.
  bool tell(ph_rank to, const Request& request, std::span<const ph_const_block> payload) noexcept;
  // That rank's thread looks at the locks that wait there; it may miss it.
  void poke(ph_rank to) noexcept;
  // All puts to that rank have landed. False: it has ended.
  bool flush(ph_rank to) noexcept;
  // Something is lost of what that rank was sent; said once.
  bool has_lost(ph_rank to) noexcept;
  // Waits for an operation of the lane.
  bool wait(ph_request& request) noexcept;

  // Operations of the lane ask for no completions, so what comes tells of a failure. Takes them.
  void take_errors() noexcept;

 private:
  struct Ticket {
    Asker* asker = nullptr;
    std::span<std::byte> into{};
    ph_status status = PH_AGAIN;  // until it is answered
    std::uint64_t number = 0;
    bool is_landing = false;             // the answer has come, and its bytes come
    ph_request taken = PH_REQUEST_NONE;  // over when the target's handler has taken the message
  };

  bool send(ph_rank to, const Request& request, std::span<const ph_const_block> payload,
            ph_request* taken) noexcept;
  bool enter(Ticket& ticket, Request& request) noexcept;
  bool await(Ticket& ticket, ph_rank from) noexcept;
  void over(Ticket& ticket, ph_status status) noexcept;
  bool is_lost(ph_rank rank) noexcept;

  static ph_status on_answer(void* user, const ph_am_message* message, ph_am_landing* landing);
  static ph_status on_filled(void* ticket, const ph_am_message* message, const ph_am_part* part);

  Job& job_;
  ph_context* lane_ = nullptr;
  std::size_t carried_bytes_ = 0;
  std::mutex mutex_;  // of all below
  std::condition_variable answered_;
  std::map<std::uint64_t, Ticket*> tickets_;
  std::set<ph_rank> broken_;  // ranks that have refused a message of ours
  std::uint64_t last_ticket_ = 0;
};

}  // namespace photon::mpi
