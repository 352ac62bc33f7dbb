// A rank of a job of two, as the programs beside this file use it: errors are exceptions, and a
// call that says PH_AGAIN is repeated with progress in between. Mailboxes are opened and posted to,
// and messages are sent to them.
// Owner: main() of each program; one thread.
#pragma once

#include <photon/photon.h>
#include <sched.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace rvma_paper {

class Rank {
 public:
  Rank() {
    ph_error error{};
    if (ph_context_create(nullptr, &context_, &error) != PH_OK)
      throw std::runtime_error(error.text);
    if (ph_size_of(context_) != 2) throw std::runtime_error("it takes two ranks");
    bind();
  }
  ~Rank() { ph_context_destroy(context_); }  // the peer of one that failed sees it die
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  ph_context* context() const { return context_; }
  bool is_first() const { return ph_rank_of(context_) == 0; }
  ph_rank peer() const { return is_first() ? 1 : 0; }

  void check(ph_status status, const char* doing) const {
    if (status == PH_OK) return;
    ph_error error{};
    ph_last_error(context_, &error);
    throw std::runtime_error(std::string(doing) + ": " + ph_status_text(status) + ": " +
                             (error.status == status ? error.text : "no text"));
  }
  void barrier() const { check(ph_barrier(context_), "barrier"); }
  void finish() const {
    barrier();
    check(ph_finalize(context_), "leaving the job");
  }

  // Repeats `call` while it says PH_AGAIN; `progress` is called in between.
  template <class Call, class Progress>
  void post(const char* doing, Call call, Progress progress) const {
    ph_status status = call();
    for (; status == PH_AGAIN; status = call()) progress();
    check(status, doing);
  }

  std::uint64_t number_setting(const char* name) const {
    for (std::size_t index = 0;; ++index) {
      ph_setting setting{};
      setting.size = sizeof setting;
      check(ph_setting_at(context_, index, &setting), name);
      if (std::strcmp(setting.name, name) == 0) return std::strtoull(setting.value, nullptr, 10);
    }
  }

 private:
  // Each rank on a core of its own where there are two; refused: the system places it.
  void bind() const {
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
    int skip = is_first() ? 0 : 1;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (!CPU_ISSET(core, &allowed) || skip-- != 0) continue;
      CPU_SET(core, &one);
      sched_setaffinity(0, sizeof one, &one);
      return;
    }
  }

  ph_context* context_ = nullptr;
};

// Zeroed, for any source.
inline ph_mailbox open_mailbox(const Rank& rank, ph_mailbox_args args) {
  args.size = sizeof args;
  args.source = PH_ANY_RANK;
  ph_mailbox box{};
  rank.check(ph_mailbox_open(rank.context(), &args, &box), "opening a mailbox");
  return box;
}

inline void post_buffer(const Rank& rank, ph_mailbox box, void* data, std::uint64_t size_bytes,
                        ph_mailbox_pointer* pointer) {
  ph_mailbox_buffer buffer{};
  buffer.size = sizeof buffer;
  buffer.data = data;
  buffer.size_bytes = size_bytes;
  buffer.pointer = pointer;
  rank.check(ph_mailbox_post(rank.context(), box, &buffer), "posting a buffer");
}

inline ph_mailbox_event next_event(const Rank& rank, ph_mailbox box) {
  ph_mailbox_event event{};
  rank.post(
      "an event of a mailbox", [&] { return ph_mailbox_take(rank.context(), box, &event); }, [] {});
  return event;
}

// The request of a message; `send` is ph_mailbox_put or ph_mailbox_append.
template <class Send>
ph_request start_message(const Rank& rank, Send send, std::uint64_t address, std::uint64_t offset,
                         ph_const_block source) {
  ph_request request = PH_REQUEST_NONE;
  ph_mailbox_put_args args{};
  args.size = sizeof args;
  args.address = address;
  args.offset = offset;
  args.source = source.data;
  args.size_bytes = source.size_bytes;
  args.epoch = PH_ANY_EPOCH;
  args.request = &request;
  rank.post(
      "a message to a mailbox", [&] { return send(rank.context(), rank.peer(), &args); },
      [&] { ph_test(rank.context(), &request, nullptr); });
  return request;
}

inline ph_status verdict_of(const Rank& rank, ph_request request) {
  return ph_wait_request(rank.context(), &request, nullptr, PH_FOREVER);
}

}  // namespace rvma_paper
