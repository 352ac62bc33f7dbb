// mailbox-setup: a message into memory that no message has come into before, between ranks that
// have met: one way, read, of a message to a mailbox for which such memory is posted. Its limit is
// what a put needs: a request, a reply that names memory registered for it, and the put with its
// id. The pages are touched before, for their faults would be most of both.
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "checksum.hpp"
#include "clock.hpp"
#include "contents.hpp"
#include "mails.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kSetupAddress = 0x73657475;
constexpr std::size_t kPage_bytes = 4096;
constexpr std::size_t kMost_bytes = std::size_t{256} << 20;  // of a run
constexpr std::uint64_t kMostMessages = 4'000;

Batches batches_of(const Link& link, std::uint64_t count) {
  const std::uint64_t most =
      std::clamp<std::uint64_t>(kMost_bytes / link.size_bytes(), 1, kMostMessages);
  return batches_for(std::min(count, most));
}

// Memory for the messages of a run, and two more; none is given twice.
class Fresh {
 public:
  Fresh(const Link& link, std::uint64_t count)
      : each_bytes_((link.size_bytes() + kPage_bytes - 1) / kPage_bytes * kPage_bytes),
        mapped_bytes_((batches_of(link, count).total() + 2) * each_bytes_),
        mapping_(::mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)) {
    if (mapping_ == MAP_FAILED) throw Failure("mailbox-setup: no fresh memory");
  }
  ~Fresh() { ::munmap(mapping_, mapped_bytes_); }
  Fresh(const Fresh&) = delete;
  Fresh& operator=(const Fresh&) = delete;

  std::byte* take() { return static_cast<std::byte*>(mapping_) + each_bytes_ * taken_++; }

 private:
  const std::size_t each_bytes_;
  const std::size_t mapped_bytes_;
  void* const mapping_;
  std::uint64_t taken_ = 0;
};

// The two sides take turns at sending: half a round trip.
template <class Send, class Receive>
Outcome take_turns(Link& link, std::uint64_t count, Send send, Receive receive) {
  Outcome outcome;
  std::uint64_t sum = 0;
  link.team().barrier();
  const bool begins = link.team().index() == 0;
  const auto batches = batches_of(link, count);
  for (std::uint64_t batch = 0; batch < batches.count; ++batch) {
    const auto start_ns = now_ns();
    for (std::uint64_t i = 0; i < batches.each; ++i) {
      if (begins) send();
      sum += checksum_of(receive(), link.size_bytes());
      if (!begins) send();
    }
    if (begins)
      outcome.batches_ns.push_back(static_cast<double>(now_ns() - start_ns) /
                                   static_cast<double>(2 * batches.each));
  }
  expect_checksum(link.buffers(), sum, batches.total());
  link.part();
  return outcome;
}

Outcome mail_to_fresh(Link& link, std::uint64_t count) {
  Fresh fresh(link, count);
  Mailer mailer(link, kSetupAddress);
  const ph_mailbox box = open_mailbox(link.job(), kSetupAddress, 1);
  const auto post = [&] { post_buffer(link.job(), box, fresh.take(), link.size_bytes()); };
  post();
  post();  // the next one is always there
  Outcome outcome = take_turns(
      link, count,
      [&] {
        send_mail(link, kSetupAddress, 0, {link.source(0), link.size_bytes()});
      },
      [&] {
        const ph_mailbox_event event = next_event(link.job(), box);
        post();
        return event.data;
      });
  link.job().check(ph_mailbox_close(link.job().context(), box), "closing a mailbox");
  for (int i = 0; i < 2; ++i) static_cast<void>(next_event(link.job(), box));
  return outcome;
}

// The reply is a put of the target into the asking side's landing.
Outcome ask_and_fill(Link& link, std::uint64_t count) {
  Fresh fresh(link, count);
  std::vector<std::uint64_t> keys;
  ph_context* const context = link.job().context();
  Inbox& inbox = link.inbox();
  ph_target reply{};
  const auto send = [&] {
    inbox.post([&] { return link.notify(1); }, "asking for memory");
    inbox.await_remote();
    ph_target target;
    std::memcpy(&target, link.landing(0), sizeof target);
    inbox.post(
        [&] {
          return ph_put_u64(context, link.peer(), {link.source(0), link.size_bytes()}, target,
                            {3, 3});
        },
        "putting");
  };
  const auto receive = [&] {
    inbox.await_remote();
    std::byte* const memory = fresh.take();
    ph_region region{};
    link.job().check(ph_register(context, memory, link.size_bytes(), PH_ACCESS_ALL, &region),
                     "registering");
    keys.push_back(region.key);
    reply = ph_at(&region, 0);  // unchanged until the put has come, so that its source is free
    inbox.post(
        [&] {
          return ph_put_u64(context, link.peer(), {&reply, sizeof reply}, link.place(0), {2, 2});
        },
        "replying");
    inbox.await_remote();
    return memory;
  };
  Outcome outcome = take_turns(link, count, send, receive);
  for (const std::uint64_t key : keys)
    link.job().check(ph_unregister(context, key), "unregistering");
  return outcome;
}

}  // namespace

void ask_mailbox_setup(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  for (const auto size_bytes : sizes_or(bench.options, {64, 4096, 65536})) {
    Link link(bench, team, {bench.options.memory, size_bytes, 1});
    Contest contest;
    contest.size_bytes = size_bytes;
    contest.limits = {
        {"request, reply, put", [&](std::uint64_t count) { return ask_and_fill(link, count); }}};
    contest.ours = {"fresh memory",
                    [&](std::uint64_t count) { return mail_to_fresh(link, count); }};
    bench.report.add(
        row_of(bench, contest, compete(team, contest, bench.options.iterations), link));
  }
}

}  // namespace photon::perf
