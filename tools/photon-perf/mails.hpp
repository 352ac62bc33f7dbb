// Mailboxes as the questions use them: opened for any sender, buffers posted, messages sent with
// progress while there is no room.
// Owner: none (functions).
#pragma once

#include <photon/mailbox.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "link.hpp"

namespace photon::perf {

// Buffers are complete after so many operations; 0: after as many bytes as they have.
inline ph_mailbox open_mailbox(const Job& job, std::uint64_t address, std::uint64_t operations) {
  ph_mailbox_args args{};
  args.size = sizeof args;
  args.address = address;
  args.threshold = operations;
  args.unit = operations == 0 ? PH_MAILBOX_BYTES : PH_MAILBOX_OPERATIONS;
  args.source = PH_ANY_RANK;
  ph_mailbox box{};
  job.check(ph_mailbox_open(job.context(), &args, &box), "opening a mailbox");
  return box;
}

inline void post_buffer(const Job& job, ph_mailbox box, void* data, std::size_t size_bytes,
                        ph_mailbox_pointer* pointer = nullptr) {
  const ph_mailbox_buffer buffer{sizeof buffer, data, size_bytes, 0, pointer, 0};
  job.check(ph_mailbox_post(job.context(), box, &buffer), "posting a buffer");
}

// The next buffer of `box`, or, if that is zero, of any mailbox.
inline ph_mailbox_event next_event(const Job& job, ph_mailbox box) {
  ph_mailbox_event event{};
  ph_status status = PH_AGAIN;
  while ((status = ph_mailbox_take(job.context(), box, &event)) == PH_AGAIN) {
  }
  job.check(status, "an event");
  return event;
}

// Without a completion: the source may change at once.
inline void send_mail(Link& link, std::uint64_t address, std::uint64_t offset,
                      ph_const_block source) {
  const auto put = [&] {
    return ph_mailbox_put_u64(link.job().context(), link.peer(), address, offset, source);
  };
  ph_status status = put();
  while (status == PH_AGAIN) {
    link.inbox().poll([](const ph_completion&) { throw Failure("an id that nobody sent"); });
    status = put();
  }
  link.job().check(status, "a message to a mailbox");
}

// Messages of one size, of any: above `mailbox_carried_max` the receiver reads the source, and that
// is waited for.
class Mailer {
 public:
  Mailer(Link& link, std::uint64_t address)
      : link_(link), address_(address), is_carried_(link.size_bytes() <= carried_max()) {}

  void send(const void* source) {
    const std::size_t size_bytes = link_.size_bytes();
    if (is_carried_) return send_mail(link_, address_, 0, {source, size_bytes});
    const Job& job = link_.job();
    ph_request request = PH_REQUEST_NONE;
    ph_mailbox_put_args args{};
    args.size = sizeof args;
    args.address = address_;
    args.source = source;
    args.size_bytes = size_bytes;
    args.epoch = PH_ANY_EPOCH;
    args.request = &request;
    link_.inbox().post([&] { return ph_mailbox_put(job.context(), link_.peer(), &args); },
                       "a large message to a mailbox");
    ph_result result;
    job.check(ph_wait_request(job.context(), &request, &result, PH_FOREVER), "its verdict");
  }

 private:
  std::uint64_t carried_max() const {
    return std::stoull(link_.job().setting("mailbox_carried_max", "0"));
  }

  Link& link_;
  const std::uint64_t address_;
  const bool is_carried_;
};

}  // namespace photon::perf
