#include "task/collect/quiescence.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "rounds.hpp"
#include "task/collect/collect.hpp"
#include "task/task_job.hpp"

namespace photon::task::test {
namespace {

// Rounds of a job: in each of them every PE gets `start`, and reports to PE 0 when it is through.
class Rounds {
 public:
  Rounds(const ph_task_place& place, int count, Function start)
      : place_(place), left_(place.pes), rounds_(count), start_(std::move(start)) {}
  void run(ph_task_pe* pe) {
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place_.pe == 0) begin(pe);
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
  }
  void enroll(ph_task_pe* pe) {
    start_number_ = test::enroll(pe, start_);
    report_number_ = test::enroll(pe, report_);
    stop_number_ = test::enroll(pe, stop_);
  }
  void report(ph_task_pe* pe) const {
    EXPECT_EQ(ph_task_send(pe, 0, make(pe, report_number_, 0)), PH_OK);
  }

 private:
  void begin(ph_task_pe* pe) {
    const std::uint32_t number = rounds_-- != 0 ? start_number_ : stop_number_;
    EXPECT_EQ(ph_task_broadcast(pe, make(pe, number, 0), PH_TASK_WITH_SELF), PH_OK);
  }

  ph_task_place place_;
  std::uint32_t left_;
  int rounds_;
  std::uint32_t start_number_ = 0, report_number_ = 0, stop_number_ = 0;
  Function start_;
  Function report_ = [this](ph_task_pe* pe, ph_task_message* message) {
    EXPECT_EQ(ph_task_free(pe, message), PH_OK);
    if (--left_ != 0) return;
    left_ = place_.pes;
    begin(pe);
  };
  Function stop_ = [](ph_task_pe* pe, ph_task_message* message) {
    EXPECT_EQ(ph_task_free(pe, message), PH_OK);
    EXPECT_EQ(ph_task_stop(pe), PH_OK);
  };
};

TEST(TaskQuiesce, idle_pes_reach_it_and_each_request_is_answered_once) {
  for (const std::uint32_t processes : {1U, 2U, 6U})
    for (const std::uint32_t pes : {1U, 3U}) {
      if (processes * pes > 9) continue;
      constexpr int kRounds = 3;
      TaskJob job(processes, pes);
      job.run([](ph_task_pe* pe, const ph_task_place& place) {
        std::uint32_t number = 0;
        int answers = 0, open = 0;
        Rounds rounds(place, kRounds, [&](ph_task_pe* one, ph_task_message* message) {
          EXPECT_EQ(ph_task_free(one, message), PH_OK);
          for (open = 0; open < 2; ++open) EXPECT_EQ(ph_task_quiesce(one, number), PH_OK);
        });
        Function quiet = [&](ph_task_pe* one, ph_task_message* message) {
          EXPECT_EQ(ph_task_size(message), 0u);
          EXPECT_EQ(ph_task_free(one, message), PH_OK);
          ++answers;
          if (--open == 0) rounds.report(one);
        };
        number = enroll(pe, quiet);
        rounds.enroll(pe);
        rounds.run(pe);
        EXPECT_EQ(answers, 2 * kRounds);
      });
    }
}

// A PE of a job whose tasks make tasks, by every way there is. `alive` are those of the whole job.
class Spreader {
 public:
  Spreader(const ph_task_place& place, std::uint32_t seed, std::atomic<std::int64_t>& alive)
      : place_(place), random_(seed * 100 + place.pe), alive_(alive) {}
  void enroll(ph_task_pe* pe) {
    spread_number_ = test::enroll(pe, spread_);
    over_number_ = test::enroll(pe, over_);
  }
  void spawn(ph_task_pe* pe, std::uint64_t depth, int branches) {
    ++alive_;
    const std::uint64_t size = random_() % 50 == 0 ? 60'000 : 16 + random_() % 500;
    ph_task_message* message = make(pe, spread_number_, depth * 4 + branches, size);
    value_ = static_cast<std::int32_t>(random_());
    const ph_task_priority priority{PH_TASK_INT_LIFO, 32, &value_};
    ph_status status = PH_OK;
    switch (random_() % 6) {
      case 0: status = ph_task_enqueue(pe, message, &priority); break;
      case 1: status = ph_task_enqueue_node(pe, message, &priority); break;
      case 2: status = ph_task_send_node(pe, random_() % place_.processes, message); break;
      default: status = ph_task_send(pe, random_() % place_.pes, message); break;
    }
    EXPECT_EQ(status, PH_OK);
  }

 private:
  void broadcast(ph_task_pe* pe, std::uint32_t flags, std::uint32_t copies) {
    alive_ += copies;
    const std::uint64_t size = random_() % 3 == 0 ? 50'000 : 8;
    EXPECT_EQ(ph_task_broadcast(pe, make(pe, over_number_, 0, size), PH_TASK_WITH_SELF | flags),
              PH_OK);
  }

  ph_task_place place_;
  std::mt19937 random_;
  std::atomic<std::int64_t>& alive_;
  std::int32_t value_ = 0;
  std::uint32_t spread_number_ = 0, over_number_ = 0;
  Function spread_ = [this](ph_task_pe* pe, ph_task_message* message) {
    const std::uint64_t depth = value_of(message) / 4;
    const int branches = static_cast<int>(value_of(message) % 4);
    EXPECT_EQ(ph_task_free(pe, message), PH_OK);
    for (int child = 0; child < branches && depth != 0; ++child) spawn(pe, depth - 1, branches);
    if (random_() % 40 == 0) broadcast(pe, 0, place_.pes);
    if (random_() % 40 == 0) broadcast(pe, PH_TASK_TO_PROCESSES, place_.processes);
    --alive_;
  };
  Function over_ = [this](ph_task_pe* pe, ph_task_message* message) {
    EXPECT_EQ(ph_task_free(pe, message), PH_OK);
    --alive_;
  };
};

void expect_never_early(std::uint32_t processes, std::uint32_t pes, std::uint64_t depth,
                        int branches) {
  constexpr int kRounds = photon::test::rounds(10, 3);
  for (std::uint32_t seed = 1; seed <= 2; ++seed) {
    std::atomic<std::int64_t> alive{0};
    TaskJob job(processes, pes);
    job.run([&](ph_task_pe* pe, const ph_task_place& place) {
      Spreader spreader(place, seed, alive);
      std::uint32_t number = 0;
      int answers = 0;
      Rounds rounds(place, kRounds, [&](ph_task_pe* one, ph_task_message* message) {
        EXPECT_EQ(ph_task_free(one, message), PH_OK);
        spreader.spawn(one, depth, branches);
        EXPECT_EQ(ph_task_quiesce(one, number), PH_OK);
      });
      Function quiet = [&](ph_task_pe* one, ph_task_message* message) {
        EXPECT_EQ(alive, 0) << "a task is left";
        EXPECT_EQ(ph_task_free(one, message), PH_OK);
        ++answers;
        rounds.report(one);
      };
      number = enroll(pe, quiet);
      spreader.enroll(pe);
      rounds.enroll(pe);
      rounds.run(pe);
      EXPECT_EQ(answers, kRounds);
    });
    EXPECT_EQ(alive, 0);
  }
}

// Stands in front of the function that takes waves. It is one for all PEs of a process.
struct Spy {
  static inline KindFunction taken = nullptr;
  static inline std::atomic<int> begun{0};        // waves that PE 0 has read its counts for
  static inline std::atomic<bool> is_met{false};  // the task at PE 1 is over

  // PE 1 runs the task that has come meanwhile before it reads its counts for the first wave.
  static bool take(Pe& pe, Message& message) noexcept {
    const std::optional<WaveFront> front = read(message, 1);
    const bool is_begin = front.has_value() && front->step == Step::begin;
    while (is_begin && pe.rank() == 1 && !is_met) pe.run(1);
    const bool is_task = taken(pe, message);
    if (front.has_value() && front->step == Step::ask) ++begun;
    return is_task;
  }
};

// A task is created at PE 0 when that has read its counts, and is processed at PE 1 before that
// reads its own: in the sum it hides the task at PE 0 that still runs. A single wave is early here,
// and so is a second one that asks whether anything was processed since the first.
TEST(TaskQuiesce, ProcessedElsewhereIsNotEarly) {
  TaskJob job(1, 2);
  Spy::begun = 0;
  Spy::is_met = false;
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    bool is_running = false;
    int answers = 0;
    Function task = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      is_running = true;
      EXPECT_EQ(ph_task_quiesce(one, 2), PH_OK);
      while (Spy::begun == 0) EXPECT_EQ(ph_task_run(one, 0, nullptr), PH_OK);
      EXPECT_EQ(ph_task_send(one, 1, make(one, 1, 0)), PH_OK);
      // Two further waves have ended, or it was early.
      const auto& quiescence = collect_of(*reinterpret_cast<Pe*>(one)).quiescence;
      while (quiescence.waves() < 4 && answers == 0) EXPECT_EQ(ph_task_run(one, 0, nullptr), PH_OK);
      is_running = false;
    };
    Function meet = [](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      Spy::is_met = true;
    };
    Function quiet = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_FALSE(is_running) << "a task was left";
      ++answers;
      ph_task_set_handler(message, 3);
      EXPECT_EQ(ph_task_broadcast(one, message, PH_TASK_WITH_SELF), PH_OK);
    };
    Function stop = [](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      EXPECT_EQ(ph_task_stop(one), PH_OK);
    };
    for (Function* one : {&task, &meet, &quiet, &stop}) enroll(pe, *one);
    if (place.pe == 0) {
      KindFunction& on_wave = reinterpret_cast<Pe*>(pe)->shared().on(Kind::wave);
      Spy::taken = on_wave;
      on_wave = Spy::take;
    }
    ASSERT_EQ(ph_task_agree(pe), PH_OK);
    if (place.pe == 0) {
      ASSERT_EQ(ph_task_send(pe, 0, make(pe, 0, 0)), PH_OK);
    }
    ASSERT_EQ(ph_task_run(pe, -1, nullptr), PH_OK);
    EXPECT_EQ(answers, place.pe == 0 ? 1 : 0);
    ASSERT_EQ(ph_task_barrier(pe), PH_OK);
  });
}

// Chains that go on from PE to PE, so there is always little under way.
TEST(TaskQuiesce, chains_of_tasks_are_never_taken_for_over_too_early) {
  expect_never_early(2, 2, photon::test::rounds(1000, 200), 1);
}

TEST(TaskQuiesce, a_random_fan_out_is_never_taken_for_over_too_early) {
  expect_never_early(3, 3, photon::test::rounds(8, 5), 2);
}

// A timer that is armed is nothing that is left to do; what it sends is.
TEST(TaskQuiesce, an_armed_timer_is_not_waited_for) {
  TaskJob job(2, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    std::uint32_t number = 0;
    Rounds rounds(place, 1, [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      EXPECT_EQ(ph_task_after(
                    one, ~std::uint64_t{0}, [](ph_task_pe*, void*) {}, nullptr, nullptr),
                PH_OK);
      EXPECT_EQ(ph_task_quiesce(one, number), PH_OK);
    });
    Function quiet = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      rounds.report(one);
    };
    number = enroll(pe, quiet);
    rounds.enroll(pe);
    rounds.run(pe);
  });
}

// The waves that look for it are no tasks, and do not end the idleness of a PE.
TEST(TaskQuiesce, waves_do_not_end_idleness) {
  TaskJob job(2, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    std::uint32_t number = 0;
    int begun = 0;
    Rounds rounds(place, 1, [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      begun = 0;
      EXPECT_EQ(ph_task_quiesce(one, number), PH_OK);
    });
    Function quiet = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_LE(begun, 2) << "behind `start`, and behind the report of the other";
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      rounds.report(one);
    };
    number = enroll(pe, quiet);
    rounds.enroll(pe);
    ASSERT_EQ(ph_task_when(
                  pe, PH_TASK_BEGIN_IDLE,
                  [](ph_task_pe*, void* user) { ++*static_cast<int*>(user); }, &begun, nullptr),
              PH_OK);
    rounds.run(pe);
  });
}

// Messages that came of a peer and are no message of a wave change nothing.
TEST(TaskQuiesce, a_forged_message_of_a_wave_is_freed) {
  TaskJob job(1, 1);
  job.run([](ph_task_pe* pe, const ph_task_place& place) {
    Pe& own = *reinterpret_cast<Pe*>(pe);
    std::uint32_t number = 0;
    Rounds rounds(place, 1, [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      const ProcessSet none(1);
      for (const Step step : {Step::answer, Step::begin, Step::done, static_cast<Step>(77)})
        for (const std::uint64_t leader : {0U, 1U}) {
          Message* forged = write(own.pool(), {step, 0, {leader, 0}, 7, 7}, &none);
          ASSERT_NE(forged, nullptr);
          forged->wire.kind = Kind::wave;
          own.push_own(*forged);
        }
      ph_task_message* small = make(one, 0, 0);
      reinterpret_cast<Message*>(small)->wire.kind = Kind::wave;
      own.push_own(*reinterpret_cast<Message*>(small));
      EXPECT_EQ(ph_task_quiesce(one, number), PH_OK);
    });
    Function quiet = [&](ph_task_pe* one, ph_task_message* message) {
      EXPECT_EQ(ph_task_free(one, message), PH_OK);
      rounds.report(one);
    };
    number = enroll(pe, quiet);
    rounds.enroll(pe);
    rounds.run(pe);
  });
}

}  // namespace
}  // namespace photon::task::test
