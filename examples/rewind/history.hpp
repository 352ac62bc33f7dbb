// A mailbox whose last epochs are kept, and the memory for its buffers.
//
//   buffer: posted -- an epoch is complete --> kept -- `kept` more are complete, or a rewind
//           makes its epoch void --> posted
#pragma once

#include <map>
#include <vector>

#include "news.hpp"

namespace rewind_example {

class History {
 public:
  // `operations` messages of `bytes` bytes in all are an epoch.
  History(ph_context* context, std::uint64_t address, std::size_t bytes, std::uint64_t operations,
          std::size_t kept)
      : context_(context), kept_count_(kept), bytes_(bytes) {
    ph_mailbox_args args{};
    args.size = sizeof args;
    args.address = address;
    args.threshold = operations;
    args.unit = PH_MAILBOX_OPERATIONS;
    args.source = PH_ANY_RANK;
    args.retained = static_cast<std::uint32_t>(kept);
    check(ph_mailbox_open(context_, &args, &box_), "opening a mailbox");
    memory_.resize((kept + kAhead) * bytes);
    for (std::size_t i = 0; i < kept + kAhead; ++i) post(memory_.data() + i * bytes);
  }

  // Nothing lands in its memory any more.
  ~History() {
    ph_mailbox_event event;
    if (ph_mailbox_close(context_, box_) != PH_OK) return;
    while (ph_mailbox_take(context_, box_, &event) >= PH_OK) continue;
  }
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  // An event of this mailbox: a buffer is kept, or comes back.
  void take(const ph_mailbox_event& event) {
    if (event.why == PH_MAILBOX_REWOUND) {
      kept_.erase(event.epoch);
      post(event.data);
      return;
    }
    kept_[event.epoch] = event.data;
    if (kept_.size() <= kept_count_) return;
    post(kept_.begin()->second);  // the library has let go of the oldest
    kept_.erase(kept_.begin());
  }

  // Epochs that are complete; what to name in messages to it.
  std::uint64_t complete() const { return now().epoch; }
  std::uint32_t incarnation() const { return now().incarnation; }

  // Makes `epoch` the last complete one again: nothing that was sent before counts any more.
  void rewind(std::uint64_t epoch) {
    check(insist(context_, [&] { return ph_mailbox_rewind(context_, box_, epoch); }), "rewinding");
  }

  // Of a mailbox that is new: epochs up to this one are over, empty.
  void begin_after(std::uint64_t epoch) {
    while (complete() <= epoch) {
      check(ph_mailbox_inc_epoch(context_, box_), "ending an epoch");
      ph_mailbox_event event;
      check(ph_mailbox_wait(context_, box_, &event, PH_FOREVER), "the event of its end");
      take(event);
    }
  }

  // What an epoch that is kept holds.
  const void* at(std::uint64_t epoch) const {
    std::vector<ph_mailbox_event> events(kept_count_);
    std::size_t count = 0;
    check(ph_mailbox_retained(context_, box_, events.data(), events.size(), &count),
          "what is kept");
    for (std::size_t i = 0; i < count; ++i)
      if (events[i].epoch == epoch) return events[i].data;
    throw std::runtime_error("an epoch that is not kept");
  }

 private:
  static constexpr std::size_t kAhead = 4;  // a sender is so many epochs ahead, and waits

  struct Now {
    std::uint64_t epoch = 0;
    std::uint32_t incarnation = 0;
  };
  Now now() const {
    Now now;
    check(ph_mailbox_epoch(context_, box_, &now.epoch, &now.incarnation), "the epoch");
    return now;
  }
  void post(void* data) {
    ph_mailbox_buffer buffer{};
    buffer.size = sizeof buffer;
    buffer.data = data;
    buffer.size_bytes = bytes_;
    check(ph_mailbox_post(context_, box_, &buffer), "posting a buffer");
  }

  ph_context* const context_;
  const std::size_t kept_count_;
  const std::size_t bytes_;
  ph_mailbox box_{};
  std::vector<std::byte> memory_;
  std::map<std::uint64_t, void*> kept_;
};

}  // namespace rewind_example
