// Active messages as the questions use them: a handler for as long as an object lives, messages
// sent with progress while there is no room.
// Owner: a run; one thread, in whose calls the handlers run unless am=threaded.
#pragma once

#include <photon/am.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include "contents.hpp"
#include "link.hpp"

namespace photon::perf {

// One turn of progress, and the handlers that are due.
inline void poll_messages(const Job& job) {
  const ph_status status = ph_am_poll(job.context(), 0);
  if (status < 0) job.fail(status, "polling");
}

// `call()` until it is more than PH_AGAIN.
template <class Call>
void send_until_taken(const Job& job, Call call, const char* doing) {
  ph_status status = call();
  while (status == PH_AGAIN) [[unlikely]] {
    poll_messages(job);
    status = call();
  }
  job.check(status, doing);
}

inline ph_am_args message_args(std::uint32_t id, const void* payload, std::size_t size_bytes) {
  ph_am_args args{};
  args.size = sizeof args;
  args.id = id;
  args.flags = PH_NO_LCE;
  args.payload = payload;
  args.payload_bytes = size_bytes;
  return args;
}

// `handler(const ph_am_message&, ph_am_landing&)` runs for messages with that id. What it throws
// is kept, for no exception may leave a handler: rethrow() throws it in the caller's own call.
template <class F>
class Listening {
 public:
  Listening(const Job& job, std::uint32_t id, F handler)
      : job_(&job), id_(id), handler_(std::move(handler)) {
    job.check(ph_am_register(job.context(), id, run, this), "registering a handler");
  }
  ~Listening() { ph_am_unregister(job_->context(), id_); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  void rethrow() {
    if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

  // Polls until it is so, and looks now and then whether the peers live.
  template <class Done>
  void await(Done is_done) {
    for (std::size_t turns = 1; !is_done(); ++turns) {
      poll_messages(*job_);
      rethrow();
      if (turns % Inbox::kTurnsBetweenChecks == 0) job_->check_peers();
    }
    rethrow();
  }

 private:
  static ph_status run(void* user, const ph_am_message* message, ph_am_landing* landing) {
    auto& self = *static_cast<Listening*>(user);
    try {
      self.handler_(*message, *landing);
    } catch (...) {
      self.thrown_ = std::current_exception();
    }
    return PH_OK;
  }

  const Job* job_;
  const std::uint32_t id_;
  F handler_;
  std::exception_ptr thrown_;
};

// Messages of the link's size from its source, the small ones by the fast path. Those that the
// target reads from here are waited for before the source may change.
class Talker {
 public:
  Talker(Link& link, std::uint32_t id)
      : link_(&link), args_(message_args(id, link.source(0), link.size_bytes())) {
    is_small_ = link.size_bytes() <= PH_AM_SMALL_BYTES;
    if (link.size_bytes() <= std::stoull(link.job().setting("am_carried_max", "0"))) return;
    args_.flags = 0;
    args_.request = &request_;
  }

  void send() {
    const Job& job = link_->job();
    await_source();
    if (is_small_) {
      send_until_taken(
          job,
          [&] {
            return ph_am_send_small(job.context(), link_->peer(), args_.id,
                                    {args_.payload, args_.payload_bytes});
          },
          "a small message");
    } else {
      send_until_taken(
          job, [&] { return ph_am_send(job.context(), link_->peer(), &args_); }, "a message");
    }
  }
  // Until what was sent may be rewritten.
  void await_source() {
    if (request_ == PH_REQUEST_NONE) return;
    ph_result result;
    link_->job().check(ph_wait_request(link_->job().context(), &request_, &result, PH_FOREVER),
                       "a message that the target reads");
  }

 private:
  Link* link_;
  ph_am_args args_;
  ph_request request_ = PH_REQUEST_NONE;
  bool is_small_ = false;
};

// Half round trips of a message to a handler that reads every byte of it; both sides answer outside
// their handlers (am-latency).
Outcome message_ping_pong(Link& link, std::uint64_t round_trips);

}  // namespace photon::perf
