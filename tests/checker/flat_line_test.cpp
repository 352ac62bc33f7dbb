// Flat lines (sync/flat_line.hpp): in every interleaving each reader gets what was said, no line is
// written again before its slowest reader has read it, and no sleeper misses one; without one of
// the orders or fences something of that fails.
#include "sync/flat_line.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "checker/checker.hpp"
#include "checker/checker_policy.hpp"
#include "checker/verdict.hpp"
#include "sync/sleep_gate.hpp"

namespace photon::checker {
namespace {

using Page = sync::FlatPage<CheckerPolicy>;
using Gate = sync::SleepGate<CheckerPolicy>;

constexpr std::uint64_t kName = 7;
constexpr std::uint32_t kDigest = 9;

void say(Page& own, std::uint32_t sequence, std::uint64_t what) {
  own.set_word(sequence, 0, what);
  own.say(sequence, kDigest);
}

// One says `count` things to all; they only read.
struct Saying {
  std::uint32_t count = 3;
  unsigned readers = 2;
  bool waits = true;  // the writer, for its readers
};

Scenario saying(Saying setting) {
  struct Team {
    Page root;
    Page pages[2];
  };
  return [=](Stage& stage) {
    stage.group("team");
    auto team = std::make_shared<Team>();
    team->root.open(kName, ~0U);
    for (Page& page : team->pages) page.open(kName, ~0U);
    stage.thread("root", [=] {
      for (std::uint32_t s = 0; s < setting.count; ++s) {
        if (s >= 2 && setting.waits)
          for (unsigned i = 0; i < setting.readers; ++i)
            wait_until([&] { return team->pages[i].has_read(kName, s - 2); });
        say(team->root, s, 10 + s);
      }
    });
    for (unsigned i = 0; i < setting.readers; ++i)
      stage.thread("reader " + std::to_string(i), [=] {
        for (std::uint32_t s = 0; s < setting.count; ++s) {
          wait_until([&] { return Page::says(team->root.mark(s), s); });
          expect(team->root.word(s, 0) == 10 + s, "the words of this sequence");
          team->pages[i].end(s);
        }
      });
  };
}

TEST(FlatLineChecked, a_slot_is_not_written_again_before_its_slowest_reader_has_read_it) {
  expect_proved(explore({}, saying({.count = 4})));
  expect_proved(explore({.stale_loads = true}, saying({.count = 3})));
  expect_proved(explore({.stale_loads = true}, saying({.count = 4, .readers = 1})));
}

TEST(FlatLineChecked, a_writer_that_does_not_wait_and_orders_that_are_missing_are_found) {
  const Saying one{.count = 3, .readers = 1};
  Saying hasty = one;
  hasty.waits = false;
  expect_found(explore({.idle_spins = 2}, saying(hasty)), "");
  const Options no_release{.weaken = {.release = true}};
  expect_found(explore(no_release, saying(one)), "");
  const Options no_acquire{.stale_loads = true, .weaken = {.acquire = true}};
  expect_found(explore(no_acquire, saying(one)), "");
}

// All say something and read all others, as an allreduce does; how far the others are stands in
// their lines, and only who is not told so looks at their ends.
Scenario exchanging(std::uint32_t count) {
  struct Team {
    Page pages[2];
  };
  return [=](Stage& stage) {
    stage.group("team");
    auto team = std::make_shared<Team>();
    for (Page& page : team->pages) page.open(kName, ~0U);
    for (unsigned own = 0; own < 2; ++own)
      stage.thread("member " + std::to_string(own), [=] {
        Page& mine = team->pages[own];
        Page& other = team->pages[1 - own];
        std::uint32_t seen = ~0U;
        for (std::uint32_t s = 0; s < count; ++s) {
          if (s >= 2 && !Page::is_reached(seen, s - 2))
            wait_until([&] { return other.has_read(kName, s - 2); });
          say(mine, s, 100 * own + s);
          wait_until([&] { return Page::says(other.mark(s), s); });
          expect(other.word(s, 0) == 100 * (1 - own) + s, "the words of this sequence");
          seen = other.done_at(s);
          mine.end(s);
        }
      });
  };
}

TEST(FlatLineChecked, what_stands_in_a_line_of_its_owners_reading_is_true) {
  expect_proved(explore({}, exchanging(4)));
  expect_proved(explore({.stale_loads = true}, exchanging(3)));
  const Options no_release{.weaken = {.release = true}};
  expect_found(explore(no_release, exchanging(3)), "");
}

// A page that its owner has given another name: the writer goes on without it.
Scenario renaming() {
  struct Team {
    Page root;
    Page page;
    CheckerPolicy::Cell<std::uint64_t> successor;
  };
  return [=](Stage& stage) {
    stage.group("team");
    auto team = std::make_shared<Team>();
    team->root.open(kName, ~0U);
    team->page.open(kName, ~0U);
    stage.thread("root", [=] {
      say(team->root, 0, 10);
      wait_until([&] { return team->page.has_read(kName, 0); });
      team->root.set_word(0, 0, 20);  // for something else: nobody reads it any more
    });
    stage.thread("reader", [=] {
      wait_until([&] { return Page::says(team->root.mark(0), 0); });
      expect(team->root.word(0, 0) == 10, "the words of this sequence");
      team->page.close();
      team->page.open(kName + 1, 5);
    });
  };
}

TEST(FlatLineChecked, a_page_of_another_name_says_that_all_was_read) {
  expect_proved(explore({}, renaming()));
  expect_proved(explore({.stale_loads = true}, renaming()));
  const Options no_acquire{.stale_loads = true, .weaken = {.acquire = true}};
  expect_found(explore(no_acquire, renaming()), "");
}

// A reader of the old name still looks when the page is another's already, and says the same there.
Scenario lingering() {
  return [](Stage& stage) {
    stage.group("page");
    auto page = std::make_shared<Page>();
    page->open(kName, ~0U);
    stage.thread("owner", [=] {
      page->close();
      page->open(kName + 1, ~0U);
      say(*page, 0, 10);
    });
    stage.thread("reader", [=] {
      for (int look = 0; look < 2; ++look)
        if (Page::says(page->mark(0), 0)) expect(page->name() != kName, "it is no word for us");
    });
  };
}

TEST(FlatLineChecked, a_page_of_another_name_says_nothing_to_those_of_the_old_one) {
  expect_proved(explore({}, lingering()));
  expect_proved(explore({.stale_loads = true}, lingering()));
  const Options no_release{.weaken = {.release = true}};
  expect_found(explore(no_release, lingering()), "it is no word for us");
}

// The reader sleeps when it finds nothing; the writer looks at its gate behind each line.
Scenario sleeping(std::uint32_t count, bool fenced, bool looks_again) {
  struct Team {
    Page root;
    Gate gate;
    EventFd event;
  };
  return [=](Stage& stage) {
    stage.group("team");
    auto team = std::make_shared<Team>();
    team->root.open(kName, ~0U);
    stage.thread("root", [=] {
      for (std::uint32_t s = 0; s < count; ++s) {
        say(team->root, s, 10 + s);
        if (team->gate.must_wake(fenced)) team->event.write();
      }
    });
    stage.thread("reader", [=] {
      const std::uint32_t last = count - 1;
      const auto is_there = [&] { return Page::says(team->root.mark(last), last); };
      while (!is_there()) {
        team->gate.arm(fenced);
        if (!looks_again || !is_there()) team->event.read();
        team->gate.disarm();
      }
      expect(team->root.word(last, 0) == 10 + last, "the words of this sequence");
    });
  };
}

TEST(FlatLineChecked, no_sleeper_misses_a_line) {
  for (const bool fenced : {false, true}) {
    expect_proved(explore({}, sleeping(2, fenced, true)));
    expect_proved(explore({.stale_loads = true}, sleeping(2, fenced, true)));
  }
}

TEST(FlatLineChecked, a_wake_up_is_lost_without_a_second_look_or_a_fence) {
  constexpr const char* kLost = "deadlock: nothing can wake reader";
  expect_found(explore({}, sleeping(1, false, false)), kLost);
  const Options no_barrier{.weaken = {.heavy_barrier = true}};
  expect_found(explore(no_barrier, sleeping(1, false, true)), kLost);
  const Options no_fence{.weaken = {.full_fence = true}};
  expect_found(explore(no_fence, sleeping(1, true, true)), kLost);
}

}  // namespace
}  // namespace photon::checker
