// One leader a host, on hosts of any members.
#include <gtest/gtest.h>

#include "schedule_cases.hpp"

namespace photon::schedule {
namespace {

constexpr Kind kLedKinds[] = {Kind::barrier, Kind::bcast, Kind::reduce, Kind::allreduce};

std::vector<std::uint32_t> drawn_hosts(std::uint32_t members, std::uint32_t hosts, unsigned seed) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < members; ++i) {
    seed = seed * 1664525U + 1013904223U;
    all.push_back((seed >> 16) % hosts);
  }
  return all;
}

TEST(ScheduleHosts, are_numbered_by_their_first_members) {
  const std::vector<std::uint32_t> names = {7, 3, 7, 9, 3, 7};
  const Hosts hosts(names);
  ASSERT_EQ(hosts.count(), 3U);
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(hosts.of(i), (std::vector<std::uint32_t>{0, 1, 0, 2, 1, 0})[i]);
    EXPECT_EQ(hosts.member(hosts.of(i), hosts.place(i)), i);
  }
  EXPECT_EQ(hosts.size(0), 3U);
  EXPECT_EQ(hosts.size(1), 2U);
  EXPECT_EQ(hosts.size(2), 1U);
}

TEST(ScheduleLeaders, are_right_on_hosts_of_any_members) {
  unsigned played = 0;
  for (const Kind kind : kLedKinds)
    for (std::uint32_t size = 1; size <= 12; ++size)
      for (std::uint32_t hosts = 1; hosts <= size; hosts += 1 + size / 5)
        for (const unsigned in_place : {0U, 1U, 2U})
          for (const std::uint64_t segment : {0U, 2U}) {
            CaseOf its{.kind = kind, .algorithm = Algorithm::leaders, .size = size};
            its.root = kind == Kind::bcast || kind == Kind::reduce ? (size * 7 + hosts) % size : 0;
            its.count = kind == Kind::barrier ? 0 : 5;
            its.segment = segment;
            its.in_place = in_place;
            its.hosts = drawn_hosts(size, hosts, size * 31 + hosts);
            ScheduleCase one(its);
            ASSERT_TRUE(one.is_known());
            for (const unsigned seed : {1U, 2U}) EXPECT_EQ(one.play(seed, seed == 2), "");
            ++played;
          }
  EXPECT_GT(played, 500u);
}

TEST(ScheduleLeaders, are_not_known_where_hosts_are_not_or_an_order_is_asked_for) {
  const std::vector<std::uint32_t> names(4, 0);
  const Hosts hosts(names);
  Call call{.kind = Kind::allreduce, .algorithm = Algorithm::leaders, .size = 4, .count = 1};
  EXPECT_FALSE(knows(call));
  call.hosts = &hosts;
  EXPECT_TRUE(knows(call));
  call.in_order = true;
  EXPECT_FALSE(knows(call));
  call.in_order = false;
  call.keeps_order = true;
  EXPECT_FALSE(knows(call));
}

TEST(ScheduleLeaders, move_nothing_in_a_barrier_whatever_its_count_says) {
  const std::vector<std::uint32_t> names = {0, 1, 1, 0, 2};
  const Hosts hosts(names);
  for (std::uint32_t rank = 0; rank < 5; ++rank) {
    Call call{.kind = Kind::barrier, .algorithm = Algorithm::leaders, .size = 5, .rank = rank};
    call.count = 1000;
    call.hosts = &hosts;
    EXPECT_EQ(temp_of(call), 0u);
    for (std::uint64_t i = 0; i < phases_of(call); ++i) {
      Phase phase;
      phase_at(call, i, phase);
      for (std::uint32_t s = 0; s < phase.count; ++s)
        EXPECT_EQ(phase.steps[s].from.count + phase.steps[s].to.count, 0u);
    }
  }
}

// What crosses from host to host is one message for each of the others.
TEST(ScheduleLeaders, cross_once_to_each_host) {
  std::vector<std::uint32_t> names;
  for (std::uint32_t i = 0; i < 24; ++i) names.push_back(i % 3);
  const Hosts hosts(names);
  unsigned crossings = 0;
  for (std::uint32_t rank = 0; rank < 24; ++rank) {
    Call call{.kind = Kind::bcast, .algorithm = Algorithm::leaders, .size = 24, .rank = rank};
    call.root = 13;
    call.count = 1;
    call.hosts = &hosts;
    for (std::uint64_t i = 0; i < phases_of(call); ++i) {
      Phase phase;
      phase_at(call, i, phase);
      for (std::uint32_t s = 0; s < phase.count; ++s)
        if (phase.steps[s].action == Action::send && names[phase.steps[s].peer] != names[rank])
          ++crossings;
    }
  }
  EXPECT_EQ(crossings, 2u);
}

TEST(ScheduleLeaders, are_chosen_on_several_hosts_where_those_are_known) {
  const std::vector<std::uint32_t> names = {0, 0, 1, 1};
  const Hosts hosts(names);
  Call call{.kind = Kind::allreduce, .size = 4, .count = 1, .hosts = &hosts};
  const Terms terms{.element_bytes = 8, .layout = Layout::several_hosts};
  EXPECT_EQ(choose(call, terms), Algorithm::leaders);
  EXPECT_EQ(choose(call, {.element_bytes = 8}), Algorithm::recursive_doubling);
  call.hosts = nullptr;
  EXPECT_EQ(choose(call, terms), Algorithm::recursive_doubling) << "as on one host";
}

}  // namespace
}  // namespace photon::schedule
