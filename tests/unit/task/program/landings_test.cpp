// Where elements land: a buffer that is named now, posted later, or the runtime's; and what goes
// wrong there. The same on every road.
#include <algorithm>
#include <optional>

#include "task/program/program_job.hpp"

namespace photon::task::test::typed_landings {
namespace {

using Items = std::vector<std::int64_t>;

class TaskLanding : public RoadTest {};
INSTANTIATE_TEST_SUITE_P(Roads, TaskLanding, testing::ValuesIn(all_roads()), road_name);

constexpr std::size_t kItems = 4000;

TEST_P(TaskLanding, elements_lie_where_the_landing_function_has_named) {
  run([&](Office& office, bool is_sender, bool is_target) {
    const Items items(kItems, 3);
    const Items more(kItems / 2, 4);
    Items first(kItems + 1, 1);
    Items second(kItems, 1);
    bool ran = false;
    const auto handler = office.tasks.on(
        [&](From from, Room<std::int64_t> one, int value, Room<std::int64_t> two) {
          EXPECT_EQ(from.pe, 0u);
          EXPECT_EQ(value, 6);
          EXPECT_EQ(one.size(), kItems);
          EXPECT_EQ(two.size(), kItems / 2);
          EXPECT_FALSE(ran);
          one.into(first);
          two.into(std::span(second).first(two.size()));
        },
        [&](std::span<std::int64_t> one, int, std::span<const std::int64_t> two) {
          EXPECT_EQ(one.data(), first.data());
          EXPECT_EQ(one.size(), kItems);
          EXPECT_EQ(two.data(), second.data());
          ran = true;
        });
    office.begin();
    if (is_sender) {
      ASSERT_EQ(office.tasks.send(target(), handler, zero_copy(items), 6, zero_copy(more)), PH_OK);
    }
    if (is_target) {
      office.until([&] { return ran; });
      EXPECT_EQ(std::count(first.begin(), first.end(), 3), kItems);
      EXPECT_EQ(first.back(), 1) << "beyond what has come";
      EXPECT_EQ(std::count(second.begin(), second.end(), 4), kItems / 2);
      EXPECT_EQ(second[kItems / 2], 1);
    }
    office.meet();  // what is captured here stays until then
  });
}

// One of two is too small: neither is written, both sides hear, the spans are released.
TEST_P(TaskLanding, nothing_moves_where_one_landing_is_too_small) {
  run([&](Office& office, bool is_sender, bool is_target) {
    const Items items(kItems, 3);
    Items large(kItems, 1);
    Items small(kItems - 1, 1);
    std::size_t released = 0;
    const auto handler = office.tasks.on(
        [&](Room<std::int64_t> one, Room<std::int64_t> two, Room<std::int64_t> three) {
          one.into(large);
          two.into(small);
          (void)three.later();
        },
        [&](std::span<std::int64_t>, std::span<std::int64_t>, std::span<std::int64_t>) {
          ADD_FAILURE();
        });
    office.begin();
    if (is_sender) {
      const auto word = [&] { ++released; };
      ASSERT_EQ(office.tasks.send(target(), handler, zero_copy(items, word), zero_copy(items, word),
                                  zero_copy(items, word)),
                PH_OK);
    }
    const std::size_t wanted = (is_sender ? 1U : 0U) + (is_target ? 1U : 0U);
    office.until([&] { return office.failures.size() == wanted; });
    office.meet();
    EXPECT_EQ(office.failures.size(), wanted);
    EXPECT_EQ(released, is_sender ? 3u : 0u);
    for (const Failure& failure : office.failures) {
      EXPECT_EQ(failure.status, PH_ERR_RANGE);
      EXPECT_EQ(failure.handler, handler.number());
      EXPECT_EQ(failure.pe, failure.is_sender ? target() : 0u);
    }
    EXPECT_EQ(std::count(large.begin(), large.end(), 1), kItems);
    EXPECT_EQ(std::count(small.begin(), small.end(), 1), kItems - 1);
    office.meet();  // what is captured here stays until then
  });
}

// By the landing function, or of a ticket: what a program does not want lets its sender go on.
TEST_P(TaskLanding, a_send_that_is_refused_or_dropped_is_told_to_both_sides) {
  run([&](Office& office, bool is_sender, bool is_target) {
    const Items items(kItems, 3);
    std::size_t released = 0;
    std::vector<Ticket<std::int64_t>> tickets;
    const auto handler = office.tasks.on(
        [&](Room<std::int64_t> one, Room<std::int64_t> two, bool is_now) {
          tickets.push_back(two.later());
          if (is_now) one.refuse();
        },
        [&](std::span<std::int64_t>, std::span<std::int64_t>, bool) { ADD_FAILURE(); });
    office.begin();
    const auto word = [&] { ++released; };
    for (const bool is_now : {true, false})
      if (is_sender) {
        ASSERT_EQ(office.tasks.send(target(), handler, zero_copy(items, word),
                                    zero_copy(items, word), is_now),
                  PH_OK);
      }
    if (is_target) {
      office.until([&] { return tickets.size() == 2; });
      EXPECT_EQ(office.tasks.drop(tickets[0]), PH_ERR_NOT_FOUND) << "its send has failed";
      EXPECT_EQ(office.tasks.drop(tickets[1]), PH_OK);
      EXPECT_EQ(office.tasks.drop(tickets[1]), PH_ERR_NOT_FOUND);
    }
    const std::size_t wanted = (is_sender ? 2U : 0U) + (is_target ? 2U : 0U);
    office.until([&] { return office.failures.size() == wanted; });
    office.meet();
    EXPECT_EQ(released, is_sender ? 4u : 0u);
    for (const Failure& failure : office.failures) EXPECT_EQ(failure.status, PH_ERR_NO_BUFFER);
    office.meet();  // what is captured here stays until then
  });
}

// In another order than they came, and after tries that are refused.
TEST_P(TaskLanding, tickets_are_posted_later_and_once) {
  run([&](Office& office, bool is_sender, bool is_target) {
    constexpr int kSends = 5;
    Items landing(kItems, 0);
    Items small(kItems - 1, 0);
    std::vector<Items> all;
    for (int i = 0; i < kSends; ++i) all.emplace_back(kItems, i);
    std::vector<std::pair<Ticket<std::int64_t>, int>> tickets;
    std::optional<int> ran;
    bool is_inside = false;
    int released = 0;
    const auto handler = office.tasks.on(
        [&](Room<std::int64_t> items, int number) { tickets.emplace_back(items.later(), number); },
        [&](std::span<std::int64_t> items, int number) {
          EXPECT_FALSE(is_inside) << "never inside the call";
          EXPECT_EQ(items.data(), landing.data());
          ran = number;
        });
    office.begin();
    for (int i = 0; is_sender && i < kSends; ++i) {
      ASSERT_EQ(office.tasks.send(target(), handler, zero_copy(all[i], [&] { ++released; }), i),
                PH_OK);
    }
    if (is_target) office.until([&] { return tickets.size() == kSends; });
    std::reverse(tickets.begin(), tickets.end());
    for (auto& [ticket, number] : tickets) {
      EXPECT_EQ(ticket.count, kItems);
      EXPECT_EQ(office.tasks.post(ticket, std::span(small)), PH_ERR_RANGE);
      EXPECT_NE(words_of(office.pe).find("post: the memory is smaller"), std::string::npos);
      EXPECT_EQ(std::count(small.begin(), small.end(), 0), kItems - 1);
      Ticket<std::int64_t> wrong = ticket;
      wrong.argument = 1;
      EXPECT_EQ(office.tasks.post(wrong, std::span(landing)), PH_ERR_NOT_FOUND);
      is_inside = true;
      EXPECT_EQ(office.tasks.post(ticket, std::span(landing)), PH_OK);
      EXPECT_EQ(office.tasks.post(ticket, std::span(landing)), PH_ERR_NOT_FOUND);
      is_inside = false;
      EXPECT_FALSE(ran);
      office.until([&] { return ran.has_value(); });
      EXPECT_EQ(*ran, number);
      EXPECT_EQ(std::count(landing.begin(), landing.end(), number), kItems);
      EXPECT_EQ(office.tasks.post(ticket, std::span(landing)), PH_ERR_NOT_FOUND);
      ran.reset();
    }
    if (is_sender) office.until([&] { return released == kSends; });
    EXPECT_EQ(office.tasks.post(Ticket<std::int64_t>(), std::span(landing)), PH_ERR_NOT_FOUND);
    EXPECT_TRUE(office.failures.empty());
    office.meet();  // what is captured here stays until then
  });
}

// The landing function itself may post, and the runtime's stands beside it.
TEST_P(TaskLanding, one_send_has_a_named_a_posted_and_a_runtimes_landing) {
  run([&](Office& office, bool is_sender, bool is_target) {
    const Items items(kItems, 3);
    Items named(kItems, 0);
    Items posted(kItems, 0);
    Items at_once(kItems, 0);
    std::optional<Ticket<std::int64_t>> ticket;
    bool ran = false;
    using Span = std::span<std::int64_t>;
    const auto handler = office.tasks.on(
        [&](Room<std::int64_t> one, Room<std::int64_t> two, Room<std::int64_t>,
            Room<std::int64_t> four) {
          one.into(named);
          ticket = two.later();
          EXPECT_EQ(office.tasks.post(four.later(), std::span(at_once)), PH_OK);
        },
        [&](Span one, Span two, Span three, Span four) {
          EXPECT_EQ(one.data(), named.data());
          EXPECT_EQ(two.data(), posted.data());
          EXPECT_EQ(four.data(), at_once.data());
          for (const Span all : {one, two, three, four})
            EXPECT_EQ(std::count(all.begin(), all.end(), 3), kItems);
          ran = true;
        });
    office.begin();
    if (is_sender) {
      ASSERT_EQ(office.tasks.send(target(), handler, zero_copy(items), zero_copy(items),
                                  zero_copy(items), zero_copy(items)),
                PH_OK);
    }
    if (is_target) {
      office.until([&] { return ticket.has_value(); });
      EXPECT_FALSE(ran);
      EXPECT_EQ(office.tasks.post(*ticket, std::span(posted)), PH_OK);
      office.until([&] { return ran; });
    }
    office.meet();  // what is captured here stays until then
  });
}

}  // namespace
}  // namespace photon::task::test::typed_landings
