// Typed sends without zero-copy arguments, and what is refused at the call.
#include <array>
#include <optional>
#include <thread>

#include "task/program/program_job.hpp"

namespace photon::task::test::typed_values {
namespace {

struct Point {
  double x, y;
  char name;
};
enum class Color : std::uint8_t { red, green };

const std::vector<Path> kNearAndFar = {{"same_pe", 1, 1, 0, {}},
                                       {"same_process", 1, 2, 1, {}},
                                       {"shm", 2, 2, 3, {{"transport", "shm"}}},
                                       {"tcp", 2, 2, 3, {{"transport", "tcp"}}}};

void run_offices(const Path& path, const std::function<void(Office&)>& body) {
  TaskJob job(path.processes, path.pes, path.options);
  job.run([&](ph_task_pe* pe, const ph_task_place&) {
    Office office(pe);
    body(office);
    office.meet();
  });
}

TEST(TaskProgram, values_of_many_types_come_as_they_were_sent_and_in_order) {
  for (const Path& path : kNearAndFar) {
    SCOPED_TRACE(path.name);
    run_offices(path, [&](Office& office) {
      std::int64_t ran = 0;
      const auto many = office.tasks.on([&](From from, std::uint8_t small, Point point, Color color,
                                            const std::array<int, 30>& row, double last) {
        EXPECT_EQ(from.pe, 0u);
        EXPECT_EQ(small, 200);
        EXPECT_EQ(point.x, 1.5);
        EXPECT_EQ(point.name, 'p');
        EXPECT_EQ(color, Color::green);
        EXPECT_EQ(row[29], 77);
        EXPECT_EQ(last, 0.25);
        EXPECT_EQ(ran++, 0);
      });
      const auto none = office.tasks.on([&] { EXPECT_EQ(ran++, 1); });
      const auto next = office.tasks.on([&](std::int64_t value) { EXPECT_EQ(value, -2 - ran++); });
      office.begin();
      if (office.own() == 0) {
        std::array<int, 30> row{};
        row[29] = 77;
        ASSERT_EQ(
            office.tasks.send(path.other, many, 200, Point{1.5, 2, 'p'}, Color::green, row, 0.25F),
            PH_OK);
        ASSERT_EQ(office.tasks.send(path.other, none), PH_OK);
        for (int i = 0; i < 10; ++i) {
          ASSERT_EQ(office.tasks.send(path.other, next, -4 - i), PH_OK);
        }
      }
      if (office.own() == path.other) office.until([&] { return ran == 12; });
    });
  }
}

// The two sides were built of different sources: nothing of such a message is read as what it is
// not, and both hear of it, the sender's span included.
TEST(TaskProgram, arguments_that_differ_in_type_are_refused_on_both_sides) {
  for (const std::uint64_t threshold : {kAllPacked, kAllOffered}) {
    TaskJob job(2, 1);
    job.run([&](ph_task_pe* pe, const ph_task_place& place) {
      Office office(pe, threshold);
      std::uint32_t right = 0;
      std::uint32_t released = 0;
      std::vector<float> row(1000);
      std::optional<Handler<std::span<float>, int>> spans;
      std::optional<Handler<std::int32_t>> values;
      if (place.pe == 0) {
        spans = office.tasks.on([](std::span<float>, int) {});
        values = office.tasks.on([](std::int32_t) {});
      } else {
        (void)office.tasks.on([](std::span<std::int32_t>, int) { ADD_FAILURE(); });
        (void)office.tasks.on([](std::uint32_t) { ADD_FAILURE(); });
      }
      const auto good = office.tasks.on([&](int) { ++right; });
      office.begin();
      if (place.pe == 0) {
        ASSERT_EQ(office.tasks.send(1, *spans, zero_copy(row, [&] { ++released; }), 4), PH_OK);
        ASSERT_EQ(office.tasks.send(1, *values, 4), PH_OK);
        ASSERT_EQ(office.tasks.send(1, good, 4), PH_OK);
        office.until([&] { return office.failures.size() == 2 && released == 1; });
        EXPECT_EQ(office.failures[0].handler, spans->number());
        EXPECT_EQ(office.failures[1].handler, values->number());
      } else {
        office.until([&] { return right == 1; });
        EXPECT_EQ(office.failures.size(), 2u);
      }
      office.meet();
      for (const Failure& failure : office.failures) {
        EXPECT_EQ(failure.status, PH_ERR_ARGUMENT);
        EXPECT_EQ(failure.pe, 1 - place.pe);
        EXPECT_EQ(failure.is_sender, place.pe == 0);
      }
    });
  }
}

TEST(TaskProgram, what_a_send_refuses_stays_the_callers_and_has_words) {
  run_offices({"", 2, 1, 1, {}}, [](Office& office) {
    bool was_released = false;
    const auto word = [&] { was_released = true; };
    std::vector<int> row(5000);
    const auto handler = office.tasks.on([](std::span<const int>, int) { ADD_FAILURE(); });
    office.begin();
    const auto expect = [&](ph_status status, ph_status wanted, const char* words) {
      EXPECT_EQ(status, wanted);
      EXPECT_NE(words_of(office.pe).find(words), std::string::npos) << words_of(office.pe);
    };
    const std::span<const int> bad(static_cast<const int*>(nullptr), 5);
    for (const std::uint64_t threshold : {kAllPacked, kAllOffered}) {
      office.tasks.fix_threshold(threshold);
      expect(office.tasks.send(0, Handler<std::span<int>, int>(), zero_copy(row, word), 1),
             PH_ERR_ARGUMENT, "send: the handler is of nothing: call on() before");
      expect(office.tasks.send(2, handler, zero_copy(row, word), 1), PH_ERR_RANK,
             "send: there is no such PE");
      expect(office.tasks.send(1, handler, zero_copy(bad, word), 1), PH_ERR_ARGUMENT,
             "elements at null");
    }
    EXPECT_EQ(office.tasks.threshold(2), 0u);
    EXPECT_TRUE(office.tasks.learnt(2).empty());
    EXPECT_EQ(office.tasks.unreleased(), 0u);
    EXPECT_EQ(ph_task_run(office.pe, 0, nullptr), PH_OK);
    EXPECT_FALSE(was_released);
  });
}

// A thread that is not the PE's: nothing was sent, and nothing of it stays.
TEST(TaskProgram, a_send_by_another_thread_is_refused_and_leaves_nothing) {
  run_offices({"", 1, 1, 0, {}}, [](Office& office) {
    std::uint32_t ran = 0;
    const auto handler = office.tasks.on([&](int) { ++ran; });
    office.begin();
    std::thread([&] { EXPECT_EQ(office.tasks.send(0, handler, 1), PH_ERR_STATE); }).join();
    EXPECT_EQ(ph_task_run(office.pe, 0, nullptr), PH_OK);
    EXPECT_EQ(ran, 0u);
  });
}

TEST(TaskProgram, registering_says_at_agree_what_it_has_failed_with) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place&) {
    Function nothing = [](ph_task_pe*, ph_task_message*) {};
    std::uint32_t number = 0;
    while (number + 1 < PH_TASK_MAX_HANDLERS) number = enroll(pe, nothing);
    Tasks tasks(pe);
    const auto handler = tasks.on([](int) {});
    EXPECT_EQ(tasks.agree(), PH_ERR_MEMORY);
    EXPECT_EQ(tasks.send(0, handler, 1), PH_ERR_ARGUMENT);
  });
}

}  // namespace
}  // namespace photon::task::test::typed_values
