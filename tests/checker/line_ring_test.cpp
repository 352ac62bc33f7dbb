// The record ring (sync/line_ring.hpp) in small configurations, every interleaving: nothing is
// lost, doubled or torn, and no old line passes for a header; and that each order is needed.
#include "sync/line_ring.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "checker/checker.hpp"
#include "checker/checker_policy.hpp"
#include "checker/verdict.hpp"

namespace photon::checker {
namespace {

using Producer = sync::LineProducer<CheckerPolicy>;
using Consumer = sync::LineConsumer<CheckerPolicy>;
constexpr std::uint64_t kLinesShift = 24;  // where these headers say how many lines they head

template <unsigned kLog2>
struct Ring {
  explicit Ring(Stage& stage, sync::LineOrder order = sync::LineOrder::in_a_row) {
    stage.group("ring");
    lines = std::make_unique<Lines>();
    stage.group("credits");
    credits = std::make_unique<sync::CreditWords<CheckerPolicy>>();
    producer = Producer(lines->data(), credits.get(), kLog2, 0, order);
    consumer = Consumer(lines->data(), credits.get(), kLog2, order);
  }
  using Lines = std::array<sync::RingLine<CheckerPolicy>,
                           sync::LinePlaces::size(sync::LineOrder::apart, kLog2)>;
  std::unique_ptr<Lines> lines;
  std::unique_ptr<sync::CreditWords<CheckerPolicy>> credits;
  Producer producer;  // the producer thread's
  Consumer consumer;  // the consumer thread's
};

// Record r: its lines carry 10 * r + line.
void send(Producer& producer, std::uint64_t record, std::uint64_t lines_count) {
  for (unsigned spins = 0; !producer.has_room(lines_count); ++spins) CheckerPolicy::pause(spins);
  for (std::uint64_t i = 0; i < lines_count; ++i)
    producer.line(i).words[i % 2].set(10 * record + i);
  const std::uint64_t header = record << 32 | lines_count << kLinesShift;
  if (lines_count == 1 && record % 2 == 0)
    producer.publish_line(producer.line(0), header);
  else
    producer.publish(header, lines_count);
}

void receive(Consumer& consumer, std::uint64_t record, std::uint64_t lines_count) {
  wait_until([&] { return consumer.peek() != Consumer::State::empty; });
  expect(consumer.peek() == Consumer::State::record, "never garbage");
  expect(consumer.header() >> 32 == record, "records in order, none lost or doubled");
  expect((consumer.header() >> kLinesShift & 0xff) == lines_count, "the header is whole");
  for (std::uint64_t i = 0; i < lines_count; ++i) {
    if (i > 0) expect(consumer.tagged(i), "every line carries its tag");
    expect(consumer.line(i).words[i % 2].get() == 10 * record + i, "the payload is whole");
    static_cast<void>(consumer.line(i).words[sync::kWordsPerLine - 1].get());  // beside a claim
  }
  consumer.pop(lines_count);
}

enum class Claims { none, free_lines, one_line_too_many };

// Records of these many lines; credits are given back once `batch` lines are owed.
template <unsigned kLog2>
Scenario transfer(std::vector<std::uint64_t> records, std::uint64_t batch,
                  Claims claims = Claims::none, sync::LineOrder order = sync::LineOrder::in_a_row) {
  return [=](Stage& stage) {
    auto ring = std::make_shared<Ring<kLog2>>(stage, order);
    stage.thread("producer", [ring, records, claims] {
      for (std::size_t i = 0; i < records.size(); ++i) {
        const std::uint64_t free_lines = ring->producer.room();
        if (claims == Claims::free_lines) ring->producer.claim(free_lines);
        if (claims == Claims::one_line_too_many) ring->producer.claim(free_lines + 1);
        send(ring->producer, i + 1, records[i]);
      }
    });
    stage.thread("consumer", [ring, records, batch] {
      for (std::size_t i = 0; i < records.size(); ++i) {
        receive(ring->consumer, i + 1, records[i]);
        if (ring->consumer.owed() >= batch) ring->consumer.publish_lines();
      }
      expect(ring->consumer.peek() == Consumer::State::empty, "nothing follows the last record");
    });
    stage.finally([ring] {
      expect(ring->consumer.head() == ring->producer.tail(), "everything was consumed");
    });
  };
}

Options stale() { return {.stale_loads = true}; }

TEST(LineRingChecked, two_lines_and_several_laps_lose_nothing) {
  expect_proved(explore({}, transfer<1>({1, 1, 1, 1, 1, 1, 1}, 1)));
  expect_proved(explore({}, transfer<1>({2, 1, 1, 2, 1, 1, 2}, 1)));
  expect_proved(explore({}, transfer<1>({2, 2, 2, 2}, 2)));
}

TEST(LineRingChecked, four_lines_with_records_across_the_edge_lose_nothing) {
  expect_proved(explore({}, transfer<2>({3, 2, 3, 1, 2, 4}, 1)));
  expect_proved(explore({}, transfer<2>({1, 2, 1, 2, 1, 2, 1, 2}, 2)));
}

TEST(LineRingChecked, a_longer_run_loses_nothing) {
  expect_proved(explore({}, transfer<2>({1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 4, 1, 1, 1, 1, 2}, 3)));
}

TEST(LineRingChecked, delayed_loads_change_nothing) {
  expect_proved(explore(stale(), transfer<1>({1, 1, 1, 1, 1}, 1)));
  expect_proved(explore(stale(), transfer<1>({2, 1, 1, 2}, 1)));
  expect_proved(explore(stale(), transfer<2>({3, 2, 3, 1}, 1)));
}

TEST(LineRingChecked, claims_of_free_lines_change_nothing) {
  expect_proved(explore({}, transfer<1>({1, 1, 1, 1, 1, 1, 1}, 1, Claims::free_lines)));
  expect_proved(explore({}, transfer<2>({3, 2, 3, 1, 2, 4}, 1, Claims::free_lines)));
  expect_proved(explore(stale(), transfer<1>({2, 1, 1, 2}, 1, Claims::free_lines)));
  const Options no_credit{.weaken = {.acquire = true, .only = "credits"}};
  expect_found(explore(no_credit, transfer<1>({1, 1, 1}, 1, Claims::free_lines)), "data race");
  expect_found(explore({}, transfer<2>({1, 1, 1, 1, 1}, 1, Claims::one_line_too_many)),
               "data race");
}

TEST(LineRingChecked, lines_apart_lose_nothing_and_their_claims_change_nothing) {
  constexpr auto kApart = sync::LineOrder::apart;
  expect_proved(explore({}, transfer<2>({3, 2, 3, 1, 2, 4}, 1, Claims::none, kApart)));
  expect_proved(explore({}, transfer<2>({1, 2, 1, 2, 1, 2}, 2, Claims::free_lines, kApart)));
  expect_found(explore({}, transfer<2>({1, 1, 1, 1, 1}, 1, Claims::one_line_too_many, kApart)),
               "data race");
}

TEST(LineRingChecked, every_order_is_needed) {
  const Scenario scenario = transfer<1>({2, 1, 2}, 1);
  for (const char* where : {"ring", "credits"}) {
    expect_found(explore({.weaken = {.release = true, .only = where}}, scenario), "data race");
    expect_found(explore({.weaken = {.acquire = true, .only = where}}, scenario), "data race");
  }
}

// The same without looking for races: what the reader would get.
TEST(LineRingChecked, without_record_order_the_payload_is_torn) {
  const Scenario scenario = transfer<1>({2, 1, 2}, 1);
  const Options no_release{.detect_races = false, .weaken = {.release = true, .only = "ring"}};
  expect_found(explore(no_release, scenario), "expectation failed");
  const Options no_acquire{
      .detect_races = false, .stale_loads = true, .weaken = {.acquire = true, .only = "ring"}};
  expect_found(explore(no_acquire, scenario), "expectation failed");
  expect_proved(explore({.detect_races = false, .stale_loads = true}, scenario));
}

// A consumer that takes any tag for a header, as if the lap did not matter: it must meet the line
// of the lap before.
TEST(LineRingChecked, without_the_lap_an_old_line_passes_for_a_header) {
  const Scenario careless = [](Stage& stage) {
    auto ring = std::make_shared<Ring<1>>(stage);
    stage.thread("producer", [ring] {
      for (std::uint64_t record = 1; record <= 3; ++record) send(ring->producer, record, 1);
    });
    stage.thread("consumer", [ring] {
      for (std::uint64_t record = 1; record <= 3; ++record) {
        wait_until([&] { return ring->consumer.peek(), ring->consumer.header() != 0; });
        expect(ring->consumer.header() >> 32 == record, "records in order, none lost or doubled");
        ring->consumer.pop(1);
        ring->consumer.publish_lines();
      }
    });
  };
  expect_found(explore({}, careless), "none lost or doubled");
}

// A producer that does not wait for credits overwrites what was not read; a consumer that has lost
// the lap finds out instead of waiting for ever.
Scenario without_credits(bool reads_payload) {
  return [=](Stage& stage) {
    auto ring = std::make_shared<Ring<1>>(stage);
    stage.thread("producer", [ring] {
      for (std::uint64_t record = 1; record <= 3; ++record) {
        ring->producer.line(0).words[0].set(10 * record);
        ring->producer.publish(record << 32 | 1 << kLinesShift, 1);
      }
    });
    stage.thread("consumer", [ring, reads_payload] {
      wait_until([&] { return ring->consumer.peek() != Consumer::State::empty; });
      expect(ring->consumer.peek() == Consumer::State::record, "never garbage");
      if (reads_payload) expect(ring->consumer.line(0).words[0].get() == 10, "first record");
    });
  };
}

TEST(LineRingChecked, without_credits_lines_are_overwritten_and_seen_as_garbage) {
  expect_found(explore({}, without_credits(true)), "data race");
  expect_found(explore({.detect_races = false}, without_credits(true)), "first record");
  expect_found(explore({}, without_credits(false)), "never garbage");
}

// Both words that a peer may lie about: a wild credit is ignored, wild tags are garbage.
TEST(LineRingChecked, a_wild_credit_is_not_believed) {
  expect_proved(explore({}, [](Stage& stage) {
    auto ring = std::make_shared<Ring<1>>(stage);
    stage.thread("producer", [ring] {
      ring->producer.publish(0, 1);
      ring->producer.publish(0, 1);
      expect(!ring->producer.has_room(1), "nothing was consumed");
      expect(ring->producer.room() == 0, "nothing was consumed");
    });
    stage.thread("liar", [ring] {
      ring->credits->lines.store(1000, std::memory_order_release);
      ring->credits->lines.store(~std::uint64_t{0}, std::memory_order_release);
    });
  }));
}

}  // namespace
}  // namespace photon::checker
