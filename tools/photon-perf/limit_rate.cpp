// Limit of the message rate: a bare single-producer ring of 64-byte slots, a flag in each.
#include "clock.hpp"
#include "failure.hpp"
#include "limits.hpp"

namespace photon::perf {
namespace {

// Returns when the consumer has read everything. The credit word counts slots taken.
template <SpinForm form>
void produce(LimitArea& area, std::uint64_t count) noexcept {
  const auto& taken = area.credit.line.flag;
  std::uint64_t known_taken = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (i - known_taken >= kRingSlots) {
      spin_until_at_least<form>(taken, i - kRingSlots + 1);
      known_taken = taken.load_acquire();
    }
    auto& slot = area.slots[i % kRingSlots];
    slot.words[0] = i;
    slot.words[1] = ~i;
    slot.flag.store_release(i + 1);
  }
  spin_until_at_least<form>(taken, count);
}

// Reads the id and the 8 payload bytes of each slot; the sum of both.
template <SpinForm form>
std::uint64_t consume(LimitArea& area, std::uint64_t count) noexcept {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto& slot = area.slots[i % kRingSlots];
    spin_until_equal<form>(slot.flag, i + 1);
    sum += slot.words[0] + slot.words[1];
    if ((i + 1) % kCreditInterval == 0) area.credit.line.flag.store_release(i + 1);
  }
  area.credit.line.flag.store_release(count);
  return sum;
}

template <SpinForm form>
Outcome ring(Team& team, std::uint64_t count) {
  auto& area = team.area();
  if (team.index() == 0) {
    area.credit.line.flag.store_release(0);
    for (auto& slot : area.slots) slot.flag.store_release(0);
  }
  team.barrier();
  Outcome outcome;
  const auto start_ns = now_ns();
  if (team.index() == 0) {
    produce<form>(area, count);
    const auto elapsed_ns = static_cast<double>(now_ns() - start_ns);
    outcome.per_second = static_cast<double>(count) * 1e9 / elapsed_ns;
  } else if (consume<form>(area, count) != 0 - count) {  // i + ~i is -1 each
    throw Failure("the bare ring lost or changed a record: the limit program is broken here");
  }
  team.barrier();
  return outcome;
}

}  // namespace

std::vector<Entry> rate_limits(Team& team) {
  return {
      {"64-byte ring", [&](std::uint64_t count) { return ring<SpinForm::tight>(team, count); }},
      {"64-byte ring", [&](std::uint64_t count) { return ring<SpinForm::pause>(team, count); }}};
}

}  // namespace photon::perf
