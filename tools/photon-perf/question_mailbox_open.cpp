// mailbox-latency --open N: one way of a message of 8 bytes where N mailboxes are open at each
// rank. 16 of them are in use: the limit is the same with those 16 open alone. And one at random is
// meant: the limit is a put whose receiver also adds 1 to a random line of as much memory.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "clock.hpp"
#include "mails.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kInUse = 16;
constexpr std::size_t kBox_bytes = 192;  // of memory a mailbox may cost

// Open mailboxes at addresses from 0 on; the first `in_use` have a buffer each.
class Crowd {
 public:
  Crowd(const Job& job, std::uint64_t count, std::uint64_t in_use) : job_(job), words_(in_use) {
    boxes_.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) boxes_.push_back(open_mailbox(job, i, 0));
    for (std::uint64_t i = 0; i < in_use; ++i) post_buffer(job_, boxes_[i], &words_[i], kWordBytes);
  }
  ~Crowd() {
    for (const ph_mailbox box : boxes_) ph_mailbox_close(job_.context(), box);
    ph_mailbox_event event;
    while (ph_mailbox_take(job_.context(), {}, &event) == PH_OK) continue;
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  std::uint64_t next(std::uint64_t box) {
    const ph_mailbox_event event = next_event(job_, {});
    if (event.address != box) throw Failure("another mailbox's buffer");
    const std::uint64_t value = *static_cast<const std::uint64_t*>(event.data);
    post_buffer(job_, event.box, event.data, kWordBytes);
    return value;
  }

 private:
  const Job& job_;
  std::vector<ph_mailbox> boxes_;
  std::vector<std::uint64_t> words_;
};

// The same for both sides; below `count`.
std::uint64_t any_of(std::uint64_t number, std::uint64_t count) {
  std::uint64_t mixed = number * 0x9e37'79b9'7f4a'7c15;
  mixed ^= mixed >> 32;
  return mixed * 0xd6e8'feb8'6659'fd93 % count;
}

template <class Send, class Receive>
Outcome exchange(Link& link, std::uint64_t count, Send send, Receive receive) {
  Outcome outcome;
  link.team().barrier();
  const bool begins = link.team().index() == 0;
  const auto batches = batches_for(count);
  std::uint64_t number = 0;
  for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
    const auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < batches.each; ++i) {
      ++number;
      if (begins) send(number);
      if (receive(number) != number) throw Failure("a wrong message");
      if (!begins) send(number);
    }
    if (begins)
      outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                                   static_cast<double>(2 * batches.each));
  }
  link.part();
  return outcome;
}

Outcome mail_each(Link& link, Crowd& crowd, std::uint64_t among, std::uint64_t count) {
  return exchange(
      link, count,
      [&](std::uint64_t number) {
        send_mail(link, any_of(number, among), 0, {&number, kWordBytes});
      },
      [&](std::uint64_t number) { return crowd.next(any_of(number, among)); });
}

Outcome put_and_touch(Link& link, std::vector<std::uint64_t>& memory, std::uint64_t count) {
  constexpr std::size_t kLine_words = 8;
  const std::uint64_t lines = memory.size() / kLine_words;
  return exchange(
      link, count,
      [&](std::uint64_t number) {
        link.inbox().post([&] { return link.put(link.source(0), 0, {number, number}); }, "putting");
      },
      [&](std::uint64_t number) {
        const std::uint64_t id = link.inbox().await_remote();
        ++memory[any_of(number, lines) * kLine_words];
        return id;
      });
}

void add(Bench& bench, Link& link, std::string mode, Entry limit, Run run) {
  Contest contest;
  contest.size_bytes = kWordBytes;
  contest.limits = {std::move(limit)};
  contest.ours = {std::move(mode), std::move(run)};
  bench.report.add(
      row_of(bench, contest, compete(link.team(), contest, bench.options.iterations), link));
}

}  // namespace

void ask_mailbox_open(Bench& bench, Team& team) {
  Link link(bench, team, {bench.options.memory, kWordBytes, 1});
  const std::uint64_t open = std::max(bench.options.open, kInUse);
  const auto in_use_of = [&](std::uint64_t boxes) {
    return [&link, boxes](std::uint64_t count) {
      Crowd crowd(link.job(), boxes, kInUse);
      return mail_each(link, crowd, kInUse, count);
    };
  };
  add(bench, link, fmt::format("16 in use of {}", open), {"16 open", in_use_of(kInUse)},
      in_use_of(open));
  Crowd crowd(bench.job, open, open);
  std::vector<std::uint64_t> memory(open * kBox_bytes / sizeof(std::uint64_t));
  add(bench, link, fmt::format("any of {}", open),
      {"put, and a random line",
       [&](std::uint64_t count) { return put_and_touch(link, memory, count); }},
      [&](std::uint64_t count) { return mail_each(link, crowd, open, count); });
}

}  // namespace photon::perf
