// Zero-copy arguments on every path, packed and offered: what a program sees is the same.
#include <algorithm>
#include <atomic>
#include <numeric>

#include "rounds.hpp"
#include "task/program/program_job.hpp"

namespace photon::task::test::typed_spans {
namespace {

using Row = std::vector<std::uint32_t>;

Row row_of(std::size_t count, std::uint32_t first) {
  Row row(count);
  std::iota(row.begin(), row.end(), first);
  return row;
}
bool is_row(std::span<const std::uint32_t> row, std::size_t count, std::uint32_t first) {
  const Row wanted = row_of(count, first);
  return std::equal(row.begin(), row.end(), wanted.begin(), wanted.end());
}

class TaskZeroCopy : public RoadTest {};
INSTANTIATE_TEST_SUITE_P(Roads, TaskZeroCopy, testing::ValuesIn(all_roads()), road_name);

// Of any size, none at all among them.
TEST_P(TaskZeroCopy, elements_and_values_in_any_order_come_whole) {
  run([&](Office& office, bool is_sender, bool is_target) {
    constexpr std::size_t kCounts[] = {0, 1, 3, 1000, 70'000};
    std::size_t ran = 0;
    std::size_t released = 0;
    const auto handler = office.tasks.on([&](From from, std::span<const std::uint32_t> one,
                                             double between, std::span<char> two,
                                             std::uint32_t count, std::span<std::uint32_t> three) {
      EXPECT_EQ(from.pe, 0u);
      EXPECT_EQ(between, 0.5);
      EXPECT_TRUE(is_row(one, count, 7));
      EXPECT_EQ(std::string(two.begin(), two.end()), "elements");
      EXPECT_TRUE(is_row(three, 2 * std::size_t{count}, 9));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.data()) % 64 * one.size(), 0u);
      ++ran;
    });
    office.begin();
    const std::string text = "elements";
    std::vector<Row> rows;
    for (const std::size_t count : kCounts) {
      rows.push_back(row_of(count, 7));
      rows.push_back(row_of(2 * count, 9));
    }
    const auto word = [&] { ++released; };
    for (std::size_t i = 0; is_sender && i < std::size(kCounts); ++i) {
      ASSERT_EQ(
          office.tasks.send(target(), handler, zero_copy(rows[2 * i], word), 0.5F,
                            zero_copy(text, word), kCounts[i], zero_copy(rows[2 * i + 1], word)),
          PH_OK)
          << words_of(office.pe);
    }
    if (is_sender) office.until([&] { return released == 3 * std::size(kCounts); });
    if (is_target) office.until([&] { return ran == std::size(kCounts); });
    office.meet();
    EXPECT_EQ(released, is_sender ? 3 * std::size(kCounts) : 0);
    EXPECT_TRUE(office.failures.empty());
    for (Row& row : rows) {
      ph_region region{};
      EXPECT_NE(ph_find_region(of(office.pe).machine().lane(), row.data(), row.size() + 1, &region),
                PH_OK)
          << "nobody registers, and what the library has registered it has given back";
    }
    office.meet();
  });
}

// Below the threshold and above it, side by side.
TEST_P(TaskZeroCopy, packed_and_offered_stand_in_one_send) {
  run([&](Office& office, bool is_sender, bool is_target) {
    std::size_t ran = 0;
    std::size_t released = 0;
    const auto handler =
        office.tasks.on([&](std::span<const std::uint32_t> small, std::span<std::uint32_t> large,
                            std::span<std::uint32_t> next) {
          EXPECT_TRUE(is_row(small, 100, 1));
          EXPECT_TRUE(is_row(large, 5000, 2));
          EXPECT_TRUE(is_row(next, 101, 3));
          ++ran;
        });
    office.begin();
    office.tasks.fix_threshold(5000);
    const Row small = row_of(100, 1);
    const Row large = row_of(5000, 2);
    const Row next = row_of(101, 3);
    const auto word = [&] { ++released; };
    if (is_sender) {
      const std::uint64_t before = counts_of(office.pe).operations;
      ASSERT_EQ(office.tasks.send(target(), handler, zero_copy(small, word), zero_copy(large, word),
                                  zero_copy(next)),
                PH_OK);
      EXPECT_EQ(counts_of(office.pe).operations, before) << "the target begins them";
      office.until([&] { return released == 2; });
    }
    if (is_target) {
      office.until([&] { return ran == 1; });
      EXPECT_EQ(counts_of(office.pe).operations, 1u) << "one span is large enough";
    }
    office.meet();
  });
}

// The word runs as a task, also of what was packed; a row is not rewritten before.
TEST_P(TaskZeroCopy, a_span_is_released_once_and_never_inside_the_call) {
  constexpr std::uint32_t kRounds = photon::test::rounds(50, 10);
  run([&](Office& office, bool is_sender, bool is_target) {
    Row row;
    std::uint32_t ran = 0;
    std::uint32_t released = 0;
    bool is_inside = false;
    const auto handler = office.tasks.on([&](std::span<std::uint32_t> got, std::uint32_t round) {
      EXPECT_TRUE(is_row(got, 3000, round)) << round;
      EXPECT_EQ(round, ran++);
    });
    office.begin();
    for (std::uint32_t i = 0; is_sender && i < kRounds; ++i) {
      row = row_of(3000, i);
      is_inside = true;
      ASSERT_EQ(office.tasks.send(target(), handler,
                                  zero_copy(row,
                                            [&] {
                                              EXPECT_FALSE(is_inside);
                                              ++released;
                                            }),
                                  i),
                PH_OK);
      EXPECT_EQ(office.tasks.unreleased(), 1u);
      is_inside = false;
      office.until([&] { return released == i + 1; });
    }
    if (is_target) office.until([&] { return ran == kRounds; });
    office.meet();
    EXPECT_EQ(released, is_sender ? kRounds : 0);
    office.meet();
  });
}

// A word may send, and so may a handler.
TEST_P(TaskZeroCopy, rows_go_back_and_forth_by_handlers_and_words) {
  constexpr std::uint32_t kLaps = photon::test::rounds(30, 6);
  run([&](Office& office, bool is_sender, bool is_target) {
    Row rows[2] = {row_of(4000, 0), row_of(4000, 0)};
    std::uint32_t laps = 0;
    std::uint32_t released = 0;
    Handler<std::span<std::uint32_t>, std::uint32_t> handler;
    const auto pass = [&](std::uint32_t to, std::uint32_t lap) {
      Row& row = rows[lap % 2];
      std::fill(row.begin(), row.end(), lap);
      EXPECT_EQ(office.tasks.send(to, handler, zero_copy(row, [&] { ++released; }), lap), PH_OK);
    };
    handler = office.tasks.on([&](From from, std::span<std::uint32_t> got, std::uint32_t lap) {
      EXPECT_EQ(std::count(got.begin(), got.end(), lap), 4000);
      ++laps;
      if (lap + 1 < kLaps) pass(from.pe, lap + 1);
    });
    office.begin();
    if (is_sender) pass(target(), 0);
    const bool is_both = is_sender && is_target;
    if (is_sender || is_target) office.until([&] { return laps >= (is_both ? kLaps : kLaps / 2); });
    office.meet();
  });
}

class TaskProgramQuiesce : public RoadTest {};
INSTANTIATE_TEST_SUITE_P(Programs, TaskProgramQuiesce, testing::ValuesIn(all_roads()), road_name);

// Messages, dones, words, refusals and posts: it is quiet when all of them are over.
TEST_P(TaskProgramQuiesce, TypedSendsOnEveryRoadCountOnce) {
  constexpr std::uint32_t kRounds = photon::test::rounds(20, 4);
  std::atomic<std::uint32_t> ran{0};
  std::atomic<std::uint32_t> released{0};
  std::atomic<std::uint32_t> failed{0};
  run([&](Office& office, bool is_sender, bool) {
    Row landing(2000);
    bool is_over = false;
    std::uint32_t round = 0;
    std::vector<Ticket<std::uint32_t>> tickets;
    office.tasks.on_failure([&](const Failure&) { ++failed; });
    const Row row = row_of(2000, 5);
    const auto post = office.tasks.on([&] {
      EXPECT_EQ(office.tasks.post(tickets.back(), std::span(landing)), PH_OK);
      tickets.pop_back();
    });
    const auto handler = office.tasks.on(
        [&](Room<std::uint32_t> room, std::uint32_t how) {
          if (how == 0) room.into(landing);
          if (how == 1) room.into({});
          if (how == 2) {
            tickets.push_back(room.later());
            EXPECT_EQ(office.tasks.send(office.own(), post), PH_OK);
          }
        },
        [&](std::span<std::uint32_t> got, std::uint32_t) {
          EXPECT_TRUE(is_row(got, 2000, 5));
          ++ran;
        });
    const auto stop = office.tasks.on([&] { is_over = true; });
    const auto begin = [&] {
      for (std::uint32_t how = 0; how < 4; ++how)
        EXPECT_EQ(office.tasks.send(target(), handler, zero_copy(row, [&] { ++released; }), how),
                  PH_OK);
    };
    std::uint32_t number = 0;
    Function quiet = [&](ph_task_pe* pe, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(pe, message), PH_OK);
      ++round;
      EXPECT_EQ(ran, 3 * round) << "not early";
      EXPECT_EQ(released, 4 * round);
      EXPECT_EQ(failed, 2 * round);
      if (round < kRounds) {
        begin();
        EXPECT_EQ(ph_task_quiesce(pe, number), PH_OK);
      }
      for (std::uint32_t to = 0; round == kRounds && to < office.tasks.place().pes; ++to)
        EXPECT_EQ(office.tasks.send(to, stop), PH_OK);
    };
    number = enroll(office.pe, quiet);
    office.begin();
    if (is_sender) {
      begin();
      EXPECT_EQ(ph_task_quiesce(office.pe, number), PH_OK);
    }
    office.until([&] { return is_over; });
    office.meet();
  });
  EXPECT_EQ(ran, 3 * kRounds);
}

}  // namespace
}  // namespace photon::task::test::typed_spans
