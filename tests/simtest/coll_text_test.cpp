// Schedules as text: a reader of its own follows them to the end by their dependencies alone.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "coll_toys.hpp"
#include "simtest/coll_plan.hpp"
#include "simtest/coll_text.hpp"

namespace photon::simtest::coll {
namespace {

struct ReadStep {
  std::string action;
  std::uint64_t peer = 0, bytes = 0, tag = 0;
  std::vector<std::uint64_t> after;
  bool is_begun = false;
  bool is_over = false;
};
using ReadRanks = std::vector<std::vector<ReadStep>>;

std::string dump_of(schedule::Call call, std::uint64_t element_bytes) {
  const Schedule schedule;
  std::string text;
  for (call.rank = 0; call.rank < call.size; ++call.rank) {
    StepText steps(schedule, call, element_bytes);
    if (call.rank == 0) text += steps.header(false);
    text += steps.rank();
    while (steps.next_phase(text)) continue;
  }
  return text;
}

// As docs/schedule-text.md fixes it; labels count from l0.
ReadStep step_of(const std::string& line, std::size_t number) {
  std::istringstream words(line);
  ReadStep step;
  std::string word;
  words >> word;
  EXPECT_EQ(word, "l" + std::to_string(number) + ":") << line;
  words >> step.action;
  if (step.action == "send" || step.action == "receive")
    words >> step.peer >> step.bytes >> step.tag;
  else
    words >> step.bytes;
  EXPECT_FALSE(words.fail()) << line;
  if (words >> word) {
    EXPECT_EQ(word, "after") << line;
  }
  while (words >> word) {
    step.after.push_back(std::stoull(word.substr(1)));
    EXPECT_LT(step.after.back(), number) << line;
  }
  return step;
}

ReadRanks read(const std::string& text) {
  ReadRanks ranks;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line.rfind("schedule ", 0), 0U) << line;
  while (std::getline(lines, line)) {
    if (line == "rank " + std::to_string(ranks.size()))
      ranks.emplace_back();
    else
      ranks.back().push_back(step_of(line, ranks.back().size()));
  }
  return ranks;
}

// How many steps are never over, where sends end with their receives.
unsigned steps_left(ReadRanks ranks) {
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::vector<ReadStep*>> met;
  bool has_moved = true;
  while (has_moved) {
    has_moved = false;
    for (std::uint64_t rank = 0; rank < ranks.size(); ++rank)
      for (ReadStep& step : ranks[rank]) {
        bool may_begin = !step.is_begun;
        for (const std::uint64_t label : step.after) may_begin &= ranks[rank][label].is_over;
        if (!may_begin) continue;
        has_moved = step.is_begun = true;
        step.is_over = step.action == "copy" || step.action == "fold";
        if (step.is_over) continue;
        const bool sends = step.action == "send";
        auto& ends = met[{sends ? rank : step.peer, sends ? step.peer : rank, step.tag}];
        ends.push_back(&step);
        if (ends.size() != 2) continue;
        EXPECT_EQ(ends[0]->bytes, ends[1]->bytes);
        EXPECT_NE(ends[0]->action, ends[1]->action);
        ends[0]->is_over = ends[1]->is_over = true;
      }
  }
  unsigned left = 0;
  for (const auto& steps : ranks)
    for (const ReadStep& step : steps) left += step.is_over ? 0 : 1;
  return left;
}

TEST(CollText, every_algorithm_is_followed_to_its_end) {
  unsigned followed = 0;
  for (const schedule::Kind kind : everything().kinds)
    for (const schedule::Algorithm algorithm : everything().algorithms)
      for (const std::uint32_t size : {1U, 2U, 5U, 8U, 13U}) {
        schedule::Call call;
        call.kind = kind;
        call.algorithm = algorithm;
        call.size = size;
        call.count = 20;
        call.segment = 3;
        if (!schedule::knows(call)) continue;
        ++followed;
        const ReadRanks ranks = read(dump_of(call, 4));
        ASSERT_EQ(ranks.size(), size);
        EXPECT_EQ(steps_left(ranks), 0U)
            << name_of(kind) << " by " << name_of(algorithm) << ", size " << size;
      }
  EXPECT_GT(followed, 50U);
}

TEST(CollText, steps_name_what_they_wait_for_and_nothing_that_follows_from_it) {
  const Toy toy(
      {{toy_phase({toy_send(1, 5, out_range(0, 2)), toy_receive(2, 6, temp_range(0, 2)),
                   toy_copy(temp_range(0, 2), out_range(4, 2)), toy_receive(2, 7, temp_range(2, 1)),
                   toy_fold(temp_range(2, 1), out_range(4, 1)), toy_send(1, 8, out_range(4, 2)),
                   toy_receive(2, 9, {})}),
        toy_phase({}),
        toy_phase({toy_receive(3, 1, temp_range(0, 1)), toy_send(1, 2, out_range(4, 1))}),
        toy_phase({toy_send(1, 3, out_range(4, 1))}, true)}},
      4);
  StepText steps(toy, schedule::Call{}, 8);
  std::string text;
  while (steps.next_phase(text)) continue;
  EXPECT_EQ(text,
            "l0: send 1 16 5\n"
            "l1: receive 2 16 6\n"
            "l2: copy 16 after l1\n"
            "l3: receive 2 8 7\n"
            "l4: fold 8 after l2 l3\n"
            "l5: send 1 16 8 after l4\n"
            "l6: receive 2 0 9\n"
            "l7: receive 3 8 1 after l4 l6\n"
            "l8: send 1 8 2 after l4 l6\n"
            "l9: send 1 8 3 after l0 l5 l7 l8\n");
}

}  // namespace
}  // namespace photon::simtest::coll
