// Which way elements go: what is learnt, and that it is used.
#include <algorithm>

#include "task/program/program_job.hpp"

namespace photon::task::test::typed_ways {
namespace {

using photon::tasks::Learnt;
using photon::tasks::detail::Choice;
using photon::tasks::detail::kKiB;
using photon::tasks::detail::Way;
using photon::tasks::detail::Ways;

// A way that takes so long; returns how many of the sends went the other one.
std::uint32_t run_choice(Choice& choice, std::uint64_t packed_ns, std::uint64_t offered_ns,
                         std::uint32_t sends) {
  const Way faster = offered_ns < packed_ns ? Way::offered : Way::packed;
  std::uint32_t others = 0;
  for (std::uint32_t i = 0; i < sends; ++i) {
    const Choice::Chosen chosen = choice.choose(8 * kKiB);
    if (chosen.way != faster) ++others;
    if (chosen.is_measured)
      choice.note(chosen.way, chosen.way == Way::packed ? packed_ns : offered_ns);
  }
  return others;
}

TEST(TaskWays, the_faster_way_is_taken_and_the_other_one_tried_now_and_then) {
  for (const bool is_offered_faster : {false, true}) {
    Choice choice;
    const std::uint64_t packed = is_offered_faster ? 10'000 : 1'000;
    EXPECT_EQ(run_choice(choice, packed, 11'000 - packed, 8), 4u) << "by turns";
    EXPECT_EQ(choice.preferred(8 * kKiB), is_offered_faster ? Way::offered : Way::packed);
    const std::uint32_t others = run_choice(choice, packed, 11'000 - packed, 10'240);
    EXPECT_EQ(others, 10u) << "far apart: one in 1,024";
    Choice close;
    run_choice(close, packed, packed + (is_offered_faster ? -100 : 100), 8);
    EXPECT_EQ(run_choice(close, packed, packed + (is_offered_faster ? -100 : 100), 6400), 100u);
  }
}

// Cores move, networks fill: what was faster is not for ever.
TEST(TaskWays, a_change_of_speeds_is_learnt) {
  Choice choice;
  run_choice(choice, 1'000, 10'000, 2000);
  EXPECT_EQ(choice.preferred(8 * kKiB), Way::packed);
  run_choice(choice, 50'000, 10'000, 20'000);
  EXPECT_EQ(choice.preferred(8 * kKiB), Way::offered);
}

// One slow send in between, of a busy target, is not what the way takes.
TEST(TaskWays, a_late_answer_counts_little) {
  Choice choice;
  run_choice(choice, 1'000, 2'000, 100);
  choice.note(Way::packed, 14'000);
  EXPECT_EQ(choice.preferred(8 * kKiB), Way::packed);
  choice.note(Way::packed, 900);
  EXPECT_EQ(choice.learnt(8 * kKiB).packed_ns, 900u);
}

TEST(TaskWays, before_anything_is_known_the_size_decides) {
  Ways ways(2);
  EXPECT_EQ(ways.threshold(1), 64 * kKiB);
  EXPECT_EQ(ways.choose(1, 0, true).way, Way::packed);
  EXPECT_EQ(ways.choose(1, kKiB - 1, true).way, Way::packed);
  EXPECT_FALSE(ways.choose(1, kKiB - 1, true).is_measured);
  EXPECT_EQ(ways.choose(1, 4096 * kKiB + 1, true).way, Way::offered);
  EXPECT_EQ(ways.learnt(1).size(), 13u);
  EXPECT_EQ(ways.learnt(1).front().least_bytes, kKiB);
  EXPECT_EQ(ways.learnt(1).back().least_bytes, 4096 * kKiB);
  ways.fix(100);
  EXPECT_EQ(ways.threshold(1), 100u);
  EXPECT_EQ(ways.choose(1, 100, true).way, Way::offered);
  EXPECT_EQ(ways.choose(1, 99, true).way, Way::packed);
  EXPECT_EQ(ways.choose(1, 0, true).way, Way::packed) << "there is nothing to read";
}

// Only one span alone is measured, so those of other sends take none of its turns.
TEST(TaskWays, nothing_is_learnt_of_one_span_among_others) {
  Ways ways(2);
  for (int i = 0; i < 100; ++i) {
    const Choice::Chosen chosen = ways.choose(1, 8 * kKiB, false);
    EXPECT_EQ(chosen.way, Way::packed);
    EXPECT_FALSE(chosen.is_measured);
  }
  EXPECT_EQ(ways.learnt(1)[3].packed, 0u);
  for (const Way way : {Way::packed, Way::offered, Way::packed})
    EXPECT_EQ(ways.choose(1, 8 * kKiB, true).way, way);
}

// A peer that answers what it was not asked, or twice, changes nothing.
TEST(TaskWays, only_the_answer_that_was_asked_for_counts) {
  Ways ways(2);
  static_cast<void>(ways.choose(1, 2 * kKiB, true));
  const std::uint32_t number = ways.begin({0, 5, 1, 2 * kKiB, Way::packed, Ways::Clock::now()});
  EXPECT_NE(number, 0u);
  ways.end(number, 4);
  ways.end(number + 64, 5);
  ways.end(0, 0);
  EXPECT_EQ(ways.learnt(1)[1].packed_ns, 0u);
  ways.end(number, 5);
  const std::uint64_t ns = ways.learnt(1)[1].packed_ns;
  EXPECT_NE(ns, 0u);
  ways.end(number, 5);
  EXPECT_EQ(ways.learnt(1)[1].packed_ns, ns);
  EXPECT_EQ(ways.learnt(0)[1].packed_ns, 0u) << "of each process its own";
}

// Between PEs: both ways become known by the sends themselves, and the faster one gets the sends.
TEST(TaskWays, what_sends_have_learnt_decides_how_later_ones_go) {
  for (const Path& path : {Path{"same_process", 1, 2, 1, {}}, Path{"shm", 2, 1, 1, {}}}) {
    SCOPED_TRACE(path.name);
    TaskJob job(path.processes, path.pes, path.options);
    job.run([&](ph_task_pe* pe, const ph_task_place&) {
      Tasks tasks(pe);
      std::uint32_t got = 0;
      std::uint32_t back = 0;
      constexpr std::uint32_t kSends = 200;
      const std::vector<double> row(2048, 1.5);
      Handler<> answer = tasks.on([&] { ++back; });
      const auto handler = tasks.on([&](From from, std::span<const double> all) {
        EXPECT_EQ(std::count(all.begin(), all.end(), 1.5), 2048);
        ++got;
        EXPECT_EQ(tasks.send(from.pe, answer), PH_OK);
      });
      ASSERT_EQ(tasks.agree(), PH_OK);
      const auto until = [&](auto condition) {
        while (!condition()) ASSERT_EQ(ph_task_run(pe, 1, nullptr), PH_OK);
      };
      const auto learnt = [&] { return tasks.learnt(path.other)[4]; };
      if (place_of(pe).pe == 0) {
        for (std::uint32_t i = 0; i < 8; ++i) {
          ASSERT_EQ(tasks.send(path.other, handler, zero_copy(row)), PH_OK);
          until([&] { return back == i + 1; });
        }
        EXPECT_EQ(learnt().least_bytes, 16 * kKiB);
        EXPECT_EQ(learnt().packed, 4u);
        EXPECT_EQ(learnt().offered, 4u);
        EXPECT_NE(learnt().packed_ns, 0u) << "the answer comes before that of the handler";
        EXPECT_NE(learnt().offered_ns, 0u);
        for (std::uint32_t i = 8; i < kSends; ++i) {
          const Learnt before = learnt();
          ASSERT_EQ(tasks.send(path.other, handler, zero_copy(row)), PH_OK);
          const bool was_offered = learnt().offered != before.offered;
          if (i % 64 != 63) {
            EXPECT_EQ(was_offered, before.is_offered) << i;
          }
          until([&] { return back == i + 1; });
        }
        until([&] { return tasks.unreleased() == 0; });
        const std::uint64_t threshold = tasks.threshold(path.other);
        EXPECT_GE(threshold, kKiB);
      } else if (place_of(pe).pe == path.other) {
        until([&] { return got == kSends; });
      }
      EXPECT_EQ(ph_task_agree(pe), PH_OK);
      EXPECT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
      EXPECT_EQ(ph_task_agree(pe), PH_OK);
    });
  }
}

}  // namespace
}  // namespace photon::task::test::typed_ways
