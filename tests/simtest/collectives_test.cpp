// What collective operations must give, by the simulator's own loop; and programs that use them,
// also on a network that loses or doubles their messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "simtest/case.hpp"
#include "simtest/joint_values.hpp"
#include "tests/simtest/brief.hpp"

namespace photon::simtest {
namespace {

constexpr std::byte kUntold{0x55};

Joint joint_of(ph_coll_kind kind, std::uint64_t count) {
  Joint joint;
  joint.kind = kind;
  joint.count = count;
  joint.seed = 7;
  return joint;
}

std::vector<std::uint32_t> numbers(const std::vector<std::byte>& bytes) {
  std::vector<std::uint32_t> all(bytes.size() / sizeof(std::uint32_t));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

TEST(JointValues, fold_the_members_inputs_in_their_order) {
  const Joint joint = joint_of(PH_COLL_SCAN, 3);
  std::vector<std::uint32_t> sum(3);
  for (std::uint32_t own = 0; own < 4; ++own) {
    const JointCall call{&joint, 4, own, 0};
    JointBuffers buffers = buffers_of(call, kUntold);
    const auto in = numbers(buffers.in);
    for (std::size_t i = 0; i < 3; ++i) sum[i] += in[i];
    apply(call, buffers);
    EXPECT_EQ(numbers(buffers.out), sum) << own;
  }
}

TEST(JointValues, give_each_start_and_each_member_other_values) {
  const Joint joint = joint_of(PH_COLL_ALLREDUCE, 8);
  const auto first = buffers_of({&joint, 4, 0, 0}, kUntold).in;
  EXPECT_NE(first, buffers_of({&joint, 4, 0, 1}, kUntold).in);
  EXPECT_NE(first, buffers_of({&joint, 4, 1, 0}, kUntold).in);
  EXPECT_EQ(first, buffers_of({&joint, 4, 0, 0}, kUntold).in);
}

TEST(JointValues, exchange_the_blocks_that_members_have_for_each_other) {
  Joint joint = joint_of(PH_COLL_ALLTOALLV, 9);
  joint.has_gaps = true;
  for (std::uint32_t own = 0; own < 3; ++own) {
    const JointCall call{&joint, 3, own, 0};
    JointBuffers mine = buffers_of(call, kUntold);
    apply(call, mine);
    const auto out = numbers(mine.out);
    for (std::uint32_t from = 0; from < 3; ++from) {
      const JointBuffers theirs = buffers_of({&joint, 3, from, 0}, kUntold);
      const auto in = numbers(theirs.in);
      ASSERT_EQ(mine.out_counts[from], theirs.in_counts[own]);
      for (std::uint64_t i = 0; i < mine.out_counts[from]; ++i)
        EXPECT_EQ(out[mine.out_offsets[from] + i], in[theirs.in_offsets[own] + i]);
    }
  }
}

Case case_with(std::uint64_t seed, Profile profile, Collectives choice) {
  Case one{seed, profile, 4, 200, {}};
  one.collectives = choice;
  one.ams = Ams::none;  // ams_test.cpp has others
  return one;
}

bool is_joint(const Step& step) { return step.verb >= Verb::coll_begin; }

// The draws of all other steps are what they are without collectives.
TEST(JointPrograms, are_those_without_collectives_and_more) {
  int with = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Program program = program_of(case_with(seed, Profile::rc, Collectives::all));
    const Program without = program_of(case_with(seed, Profile::rc, Collectives::none));
    with +=
        program_of(case_with(seed, Profile::rc, Collectives::drawn)).joint_teams.empty() ? 0 : 1;
    if (loses_links(program)) continue;
    EXPECT_FALSE(program.joint_teams.empty()) << seed;
    program.joint_teams.clear();
    program.joint_lines.clear();
    program.options.resize(without.options.size());
    for (auto& steps : program.steps) std::erase_if(steps, is_joint);
    EXPECT_EQ(text_of(program), text_of(without)) << seed;
  }
  EXPECT_GT(with, 8);
  EXPECT_LT(with, 32);
}

std::size_t times_told(const std::string& history, const std::string& words) {
  std::size_t count = 0;
  for (std::size_t at = history.find(words); at != std::string::npos;
       at = history.find(words, at + 1))
    ++count;
  return count;
}

TEST(JointPrograms, make_teams_and_end_operations_well_and_ill) {
  for (const Profile profile : kProfiles) {
    std::size_t well = 0, dead = 0, departed = 0, made = 0, freed = 0, again = 0, prepared = 0;
    for (std::uint64_t seed = 1; seed <= seeds_of(40); ++seed) {
      const Case one = case_with(seed, profile, Collectives::all);
      const Result first = run_and_repeat(one);
      well += times_told(first.history, "over = 0");
      dead += times_told(first.history, "over = -11");
      departed += times_told(first.history, "over = -12");
      made += times_told(first.history, "made = 0");
      freed += times_told(first.history, "freed team");
      again += times_told(first.history, "= again");
      prepared += times_told(first.history, ", start 1 of");
    }
    if (kIsBrief) continue;
    for (const std::size_t count : {well, dead, departed, made, freed, again, prepared})
      EXPECT_GT(count, 5u) << kProfileNames[static_cast<int>(profile)];
    EXPECT_GT(well, 50 * (dead + 1) / 10);
  }
}

// A message of a collective that does not come hangs its operation; one that comes twice is more
// than anybody has sent.
TEST(JointPrograms, show_that_a_message_is_lost_or_comes_twice) {
  using Kind = transport::sim::Fault::Kind;
  for (const Kind kind : {Kind::lose_message, Kind::repeat_message}) {
    bool is_found = false;
    for (std::uint64_t seed = 1; seed <= 40 && !is_found; ++seed) {
      Case one = case_with(seed, Profile::stream, Collectives::all);
      Program program = program_of(one);
      if (loses_links(program)) continue;
      for (auto& steps : program.steps)
        std::erase_if(steps, [](const Step& step) { return !is_joint(step); });
      EXPECT_FALSE(run_case(one, program, false).finding) << seed;
      one.fault.kind = kind;
      one.fault.after = seed % 20;
      is_found = run_case(one, program, false).finding.has_value();
    }
    EXPECT_TRUE(is_found);
  }
}

TEST(JointPrograms, stay_whole_when_steps_are_taken_out) {
  for (std::uint64_t seed = 1; seed <= seeds_of(20); ++seed) {
    const Case one = case_with(seed, Profile::mapped, Collectives::all);
    Program program = program_of(one);
    std::size_t number = seed;
    for (auto& steps : program.steps)
      std::erase_if(steps, [&](const Step& step) {
        number = number * 6364136223846793005 + 1442695040888963407;
        return is_joint(step) && number >> 62 == 0;
      });
    const Result result = run_case(one, program, false);
    EXPECT_FALSE(result.finding) << seed << ": " << result.finding->text;
  }
}

}  // namespace
}  // namespace photon::simtest
