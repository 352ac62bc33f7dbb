// The overflow (sync/overflow.hpp) beside the ring that announces it: every id arrives, in order,
// and no entry waits for a jump that never comes; without its fences or its mark that breaks.
#include "sync/overflow.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "checker/checker.hpp"
#include "checker/checker_policy.hpp"
#include "checker/verdict.hpp"
#include "sync/line_ring.hpp"

namespace photon::checker {
namespace {

using Producer = sync::OverflowProducer<CheckerPolicy>;
using Consumer = sync::OverflowConsumer<CheckerPolicy>;
using RingProducer = sync::LineProducer<CheckerPolicy>;
using RingConsumer = sync::LineConsumer<CheckerPolicy>;

constexpr std::uint64_t kCapacity = 4;  // words; an entry has two
constexpr std::uint64_t kJump = std::uint64_t{1} << 16;
constexpr std::uint64_t kFiller = std::uint64_t{1} << 17;

struct Pair {
  std::array<sync::RingLine<CheckerPolicy>, 2> lines;
  sync::CreditWords<CheckerPolicy> credits;
  sync::OverflowWord<CheckerPolicy> published;
  sync::OverflowWord<CheckerPolicy> taken;
  std::array<CheckerPolicy::Cell<std::uint64_t>, kCapacity> words;

  sync::OverflowMemory<CheckerPolicy> memory{&published, &taken, words.data()};
  RingProducer ring_out{lines.data(), &credits, 1, 1};  // a line is kept for jumps
  std::uint64_t jump_tail = 0;
  RingConsumer ring_in{lines.data(), &credits, 1};
  Producer out{memory, kCapacity};
  Consumer in{memory, kCapacity};
};

struct Way {
  // Of each id: whether the ring's ledger has a slot for it.
  std::vector<bool> has_slot;
  bool marks = true;
  // A record without an id before the id of that number, if there is room: then the ring is full.
  std::size_t fill_before = 0;
  // Marks are left out where the ring stands as the last jump left it.
  bool looks_at_ring = true;
};

void send_record(Pair& pair, std::uint64_t kind, std::uint64_t word) {
  wait_until([&] { return pair.ring_out.has_room(1); });
  pair.ring_out.line(0).words[0].set(word);
  pair.ring_out.publish(kind, 1);
}

void send(Pair& pair, const Way& way, std::size_t i) {
  const std::uint64_t id = i + 1;
  const bool has_slot = way.has_slot[i];
  pair.out.refresh();
  if (has_slot && pair.out.is_drained()) return send_record(pair, 0, id);
  wait_until([&] { return pair.out.refresh(), pair.out.has_room(2); });
  pair.out.set(0, id);
  std::uint64_t position = 0;
  if (!pair.out.publish({1, 2, !way.looks_at_ring || pair.ring_out.tail() != pair.jump_tail},
                        position))
    return;
  // No room: the last jump was not met, and leads to this entry too. Nobody comes back to send one.
  if (!pair.ring_out.has_last_room(1)) return;
  pair.ring_out.line(0).words[0].set(position);
  pair.ring_out.publish(kJump, 1);
  pair.jump_tail = pair.ring_out.tail();
}

// What the engine does: ring records first come, a jump makes it read the overflow until nothing is
// left there. Without marks it would read on whatever stands there.
void receive(Pair& pair, std::size_t ids, bool marks) {
  std::uint64_t next = 1;
  const auto read_overflow = [&] {
    do {
      if (!marks) pair.in.jump(kCapacity * ids);
      while (pair.in.peek() == Consumer::State::entry) {
        expect(pair.in.word(0) == next++, "ids in order, none lost or doubled");
        pair.in.pop(2);
      }
    } while (!pair.in.leave());
  };
  while (next <= ids) {
    wait_until([&] { return pair.ring_in.peek() != RingConsumer::State::empty; });
    expect(pair.ring_in.peek() == RingConsumer::State::record, "never garbage");
    const std::uint64_t word = pair.ring_in.line(0).words[0].get();
    const bool jumps = (pair.ring_in.header() & kJump) != 0;
    const bool fills = (pair.ring_in.header() & kFiller) != 0;
    pair.ring_in.pop(1);
    pair.ring_in.publish_lines();
    if (jumps) {
      pair.in.jump(word);
      read_overflow();
    } else if (!fills) {
      expect(word == next++, "ids in order, none lost or doubled");
    }
  }
}

Scenario sending(const Way& way) {
  return [way](Stage& stage) {
    stage.group("pair");
    auto pair = std::make_shared<Pair>();
    stage.thread("sender", [=] {
      for (std::size_t i = 0; i < way.has_slot.size(); ++i) {
        if (i + 1 == way.fill_before && pair->ring_out.has_room(1)) send_record(*pair, kFiller, 0);
        send(*pair, way, i);
      }
    });
    stage.thread("receiver", [=] { receive(*pair, way.has_slot.size(), way.marks); });
  };
}

Options stale() { return {.stale_loads = true}; }

TEST(OverflowChecked, ids_arrive_in_order_and_none_is_left_behind) {
  expect_proved(explore({}, sending({{false, false, false}})));
  expect_proved(explore({}, sending({{true, false, true, false}})));
  expect_proved(explore(stale(), sending({{false, false}})));
  expect_proved(explore(stale(), sending({{false, true, false}})));
}

// The ring is full of other records but for the line that is kept, and nobody sends another jump
// later: of the ids that overflow none is left behind.
TEST(OverflowChecked, a_full_ring_leaves_no_entry_behind) {
  expect_proved(explore({}, sending({.has_slot = {false, false, false, false}, .fill_before = 2})));
}

TEST(OverflowChecked, a_mark_behind_an_unread_jump_leaves_its_entry_behind) {
  expect_found(explore({}, sending({.has_slot = {false, false, false, false},
                                    .fill_before = 2,
                                    .looks_at_ring = false})),
               "deadlock");
}

TEST(OverflowChecked, without_the_fences_an_entry_is_left_behind) {
  const Options no_fence{.weaken = {.full_fence = true}};
  expect_found(explore(no_fence, sending({{false, false, false}})), "deadlock");
}

TEST(OverflowChecked, without_the_mark_an_entry_overtakes_the_ring) {
  expect_found(explore({}, sending({.has_slot = {false, true, false}, .marks = false})),
               "ids in order");
}

TEST(OverflowChecked, every_order_is_needed) {
  const Scenario scenario = sending({{false, false, false}});
  expect_found(explore({.weaken = {.release = true}}, scenario), "data race");
  expect_found(explore({.weaken = {.acquire = true}}, scenario), "data race");
}

}  // namespace
}  // namespace photon::checker
