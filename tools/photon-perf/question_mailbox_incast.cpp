// mailbox-incast: all other ranks send messages of 4 KiB to one mailbox of rank 0 for some time, as
// fast as it lets them (`-n 65` and ten seconds for the full question). Each is numbered: none is
// lost or comes twice. Rank 0's own memory beyond the buffers that it posted is told, and how often
// the sender served most was served beside the one served least.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "clock.hpp"
#include "mails.hpp"
#include "resources.hpp"

namespace photon::perf {
namespace {

constexpr std::uint64_t kIncastAddress = 0x696e6361;
constexpr std::size_t kIncast_bytes = 4096;
constexpr std::size_t kIncastBuffers = 256;
constexpr std::uint64_t kTime_ns = 10'000'000'000;
constexpr std::uint64_t kEach_bytes = 16 * 1024;  // of private memory a sender may cost
constexpr double kFairnessBar = 2;
constexpr std::size_t kIncastUnderWay = 8;  // messages of a sender under way
constexpr std::uint64_t kWarmUp = 2 * kIncastUnderWay;

struct Message {
  std::uint64_t sender;
  std::uint64_t number;
  std::uint64_t is_last;
};

// A message under way: its request ends when it has landed.
struct Sending {
  std::array<std::byte, kIncast_bytes> bytes{};
  ph_request request = PH_REQUEST_NONE;

  void settle(const Job& job) {
    ph_result result;
    job.check(ph_wait_request(job.context(), &request, &result, PH_FOREVER), "a message's verdict");
  }
};

// Until the time is over, or so many messages. The last one says so.
void send_to_one(Bench& bench, std::uint64_t messages) {
  Inbox inbox(bench.job);
  std::array<Sending, kIncastUnderWay> window;
  const auto end_ns = messages == 0 ? now_ns() + kTime_ns : UINT64_MAX;
  Message message{bench.job.rank(), 0, 0};
  for (; message.is_last == 0; ++message.number) {
    if (message.number + 1 == messages || now_ns() >= end_ns) message.is_last = 1;
    Sending& sending = window[message.number % kIncastUnderWay];
    sending.settle(bench.job);
    std::memcpy(sending.bytes.data(), &message, sizeof message);
    std::memcpy(sending.bytes.data() + kIncast_bytes - sizeof message, &message, sizeof message);
    ph_mailbox_put_args args{};
    args.size = sizeof args;
    args.address = kIncastAddress;
    args.source = sending.bytes.data();
    args.size_bytes = kIncast_bytes;
    args.epoch = PH_ANY_EPOCH;
    args.request = &sending.request;
    inbox.post([&] { return ph_mailbox_put(bench.job.context(), 0, &args); },
               "a message to a mailbox");
  }
  for (Sending& sending : window) sending.settle(bench.job);
}

struct Served {
  std::vector<std::uint64_t> counts;   // of each rank
  std::vector<std::uint64_t> earlier;  // when the first of them had sent its last
  std::uint64_t most_bytes = 0;
};

// Of those that send still when nobody has ended: who ends is served no more.
Served take_all(Bench& bench, ph_mailbox box) {
  Served served;
  served.counts.resize(bench.job.size());
  const auto before_bytes = private_bytes();
  std::uint64_t taken = 0;
  for (std::uint32_t left = bench.job.size() - 1; left != 0; ++taken) {
    const ph_mailbox_event event = next_event(bench.job, box);
    Message front;
    Message back;
    std::memcpy(&front, event.data, sizeof front);
    std::memcpy(&back, static_cast<std::byte*>(event.data) + kIncast_bytes - sizeof back,
                sizeof back);
    if (std::memcmp(&front, &back, sizeof front) != 0 || front.sender >= bench.job.size())
      throw Failure("a message that nobody sent");
    std::uint64_t& expected = served.counts[front.sender];
    if (front.number != expected)
      throw Failure(fmt::format("message {} of rank {} came where {} was due", front.number,
                                front.sender, expected));
    ++expected;
    if (front.is_last != 0) {
      if (served.earlier.empty()) served.earlier = served.counts;
      --left;
    }
    post_buffer(bench.job, box, event.data, kIncast_bytes);
    if (taken % 4096 == 0) served.most_bytes = std::max(served.most_bytes, private_bytes());
  }
  served.most_bytes = std::max(served.most_bytes, private_bytes());
  served.most_bytes -= std::min(served.most_bytes, before_bytes);
  return served;
}

std::uint64_t number_of(const Job& job, const char* setting) {
  const std::string text = job.setting(setting, "0");
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void add_rows(Bench& bench, const Served& served, std::uint64_t took_ns) {
  const std::uint64_t senders = bench.job.size() - 1;
  const auto total = std::accumulate(served.counts.begin(), served.counts.end(), std::uint64_t{0});
  const auto [least, most] = std::minmax_element(served.earlier.begin() + 1, served.earlier.end());
  Row row;
  row.question = bench.options.question;
  row.transport = bench.job.path_to(1).transport;
  row.mode = fmt::format("{} senders", senders);
  row.size_bytes = kIncast_bytes;
  row.iterations = total;
  row.rate_per_s = static_cast<double>(total) * 1e9 / static_cast<double>(took_ns);
  row.note = fmt::format(
      "none lost, none twice; most/least served {:.2f}, bar {:.0f}",
      static_cast<double>(*most) / static_cast<double>(std::max<std::uint64_t>(*least, 1)),
      kFairnessBar);
  Row memory = row;
  bench.report.add(std::move(row));
  memory.mode = "private memory";
  memory.rate_per_s.reset();
  memory.size_bytes = std::max<std::uint64_t>(served.most_bytes, 1);
  const std::uint64_t early_bytes = std::min(senders * number_of(bench.job, "mailbox_early_bytes"),
                                             number_of(bench.job, "mailbox_early_total_bytes"));
  memory.limit = static_cast<double>(early_bytes + senders * kEach_bytes);
  memory.limit_name = "bar";
  memory.limit_ratio = static_cast<double>(memory.size_bytes) / *memory.limit;
  memory.note = "bar: the limits of early arrivals and 16 KiB a sender";
  bench.report.add(std::move(memory));
}

}  // namespace

void ask_mailbox_incast(Bench& bench) {
  Team crew(bench.block, Team::Scope::job, bench.job.rank(), bench.job.size());
  Inbox inbox(bench.job);
  const auto meet = [&] { crew.barrier_while([&] { inbox.poll([](const ph_completion&) {}); }); };
  if (crew.index() != 0) {
    meet();  // the mailbox is open
    send_to_one(bench, kWarmUp);
    meet();
    send_to_one(bench, bench.options.iterations);
    return meet();
  }
  const ph_mailbox box = open_mailbox(bench.job, kIncastAddress, 1);
  std::vector<std::byte> memory(kIncastBuffers * kIncast_bytes);
  for (std::size_t i = 0; i < kIncastBuffers; ++i)
    post_buffer(bench.job, box, &memory[i * kIncast_bytes], kIncast_bytes);
  meet();
  take_all(bench, box);  // what the first contacts cost is no mailbox's
  meet();
  const auto start_ns = now_ns();
  const Served served = take_all(bench, box);
  const auto took_ns = now_ns() - start_ns;
  meet();
  bench.job.check(ph_mailbox_close(bench.job.context(), box), "closing a mailbox");
  ph_mailbox_event event;
  while (ph_mailbox_take(bench.job.context(), box, &event) == PH_OK) continue;
  add_rows(bench, served, took_ns);
}

}  // namespace photon::perf
