// am-bandwidth: messages that their target reads from the sender's memory into a landing that its
// handler names, with as many under way as gets in get-bandwidth, which is the limit. Index 0 is
// the target, as it is the one that gets: every byte is read there.
#include <array>

#include "clock.hpp"
#include "means.hpp"
#include "messages.hpp"
#include "streams.hpp"

namespace photon::perf {
namespace {

constexpr std::uint32_t kPull = 1;

class Target {
 public:
  explicit Target(Link& link) : link_(&link), contents_(link.buffers(), link.team().index()) {
    for (Place& place : places_) place.target = this;
  }

  void take(const ph_am_message& message, ph_am_landing& landing) {
    std::size_t slot = 0;
    while (slot < kWindow && places_[slot].is_busy) ++slot;
    if (slot == kWindow) throw Failure("more messages are under way than were sent");
    if (message.payload_bytes != link_->size_bytes()) throw Failure("a message of another size");
    landing.buffer = link_->landing(slot);
    landing.buffer_bytes = link_->size_bytes();
    landing.done = landed;
    landing.argument = &places_[slot];
    places_[slot].is_busy = true;
  }

  std::uint64_t ended() const noexcept { return ended_; }
  // Throws Failure.
  void expect_all(std::uint64_t count) const {
    if (has_failed_) throw Failure("a payload that did not come");
    contents_.expect_all(count);
  }

 private:
  struct Place {
    Target* target = nullptr;
    bool is_busy = false;
  };
  static ph_status landed(void* argument, const ph_am_message*, const ph_am_part* part) {
    Place& place = *static_cast<Place*>(argument);
    Target& self = *place.target;
    place.is_busy = false;
    self.has_failed_ = self.has_failed_ || part->status != PH_OK;
    if (part->status == PH_OK)
      self.contents_.read(static_cast<const std::byte*>(part->data), self.ended_ + 1);
    ++self.ended_;
    return PH_OK;
  }

  Link* link_;
  Contents contents_;
  std::array<Place, kWindow> places_{};
  std::uint64_t ended_ = 0;
  bool has_failed_ = false;
};

// Delivered: a landing is free again when its message's handlers are through.
void send_pulled(Link& link, std::uint64_t count) {
  const Job& job = link.job();
  const auto before = link.inbox().locals();
  ph_am_args args = message_args(kPull, link.source(0), link.size_bytes());
  args.flags = PH_DELIVERED;
  const auto nothing = [](const ph_completion&) { throw Failure("an id that nobody sent"); };
  for (std::uint64_t sent = 0; sent < count; ++sent) {
    while (sent - (link.inbox().locals() - before) >= kWindow) link.inbox().poll(nothing);
    args.local = {&sent, sizeof sent};
    link.inbox().post([&] { return ph_am_send(job.context(), link.peer(), &args); }, "a message");
  }
  link.inbox().await_locals(before + count);
}

Outcome pull_stream(Link& link, std::uint64_t count) {
  Outcome outcome;
  Target target(link);
  Listening listening(link.job(), kPull, [&](const ph_am_message& message, ph_am_landing& landing) {
    target.take(message, landing);
  });
  begin(link.team());
  const auto start_ns = now_ns();
  if (link.team().index() == 1) {
    send_pulled(link, count);
  } else {
    listening.await([&] { return target.ended() == count; });
    outcome.per_second =
        static_cast<double>(count) * 1e9 / static_cast<double>(now_ns() - start_ns);
    target.expect_all(count);
  }
  link.part();
  return outcome;
}

}  // namespace

void ask_am_bandwidth(Bench& bench) {
  if (bench.job.rank() > 1) return;
  Team team(bench.block, Team::Scope::pair, bench.job.rank(), 2);
  for (const auto size_bytes : sizes_or(bench.options, {1U << 20, 4U << 20})) {
    Link link(bench, team, {bench.options.memory, size_bytes});
    Contest contest;
    contest.unit = Unit::megabytes_per_second;
    contest.size_bytes = size_bytes;
    contest.limits = {{"get", [&](std::uint64_t count) { return get_stream(link, count); }}};
    contest.ours = {"pulled", [&](std::uint64_t count) { return pull_stream(link, count); }};
    bench.report.add(
        row_of(bench, contest, compete(team, contest, bench.options.iterations), link));
  }
}

}  // namespace photon::perf
