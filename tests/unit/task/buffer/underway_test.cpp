#include "task/buffer/underway.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace photon::task {
namespace {

using Says = EndName::Says;

TEST(TaskUnderway, a_name_takes_its_record_once) {
  Underway underway;
  std::vector<Message> records(200);
  std::vector<EndName> names(records.size());
  for (std::size_t i = 0; i < records.size(); ++i)
    ASSERT_TRUE(underway.add(records[i], i % 2 == 0 ? Says::issued : Says::turned, names[i]));
  EXPECT_EQ(underway.count(), 200u);
  EXPECT_EQ(underway.count(Says::turned), 100u);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EndName wrong = names[i];
    wrong.says = wrong.says == Says::issued ? Says::turned : Says::issued;
    EXPECT_EQ(underway.take(wrong), nullptr) << "a peer cannot end what was issued here";
    wrong = names[i];
    ++wrong.generation;
    EXPECT_EQ(underway.take(wrong), nullptr);
    EXPECT_EQ(underway.take(names[i]), &records[i]);
    EXPECT_EQ(underway.take(names[i]), nullptr) << "it ends once";
  }
  EXPECT_EQ(underway.count(), 0u);
  EXPECT_EQ(underway.count(Says::turned), 0u);
  EndName again{};
  ASSERT_TRUE(underway.add(records[0], Says::issued, again));
  for (const EndName& name : names) EXPECT_EQ(underway.find(name), nullptr);
  EXPECT_EQ(underway.find({.slot = ~0U, .generation = 1, .rank = 0, .says = Says::issued}),
            nullptr);
}

TEST(TaskUnderway, what_has_ended_is_ended_once_and_taken_by_its_done) {
  Underway underway;
  Message record{};
  for (const Says says : {Says::issued, Says::turned}) {
    EndName name{};
    ASSERT_TRUE(underway.add(record, says, name));
    EXPECT_EQ(underway.end(name), &record);
    EXPECT_EQ(underway.end(name), nullptr);
    EXPECT_EQ(underway.count(Says::turned), 0u);
    EXPECT_EQ(underway.count(), 1u);
    name.says = Says::ended;
    EXPECT_EQ(underway.take(name), &record);
    EXPECT_EQ(underway.count(), 0u);
  }
}

TEST(TaskUnderway, all_of_a_kind_are_met_once_and_may_end_meanwhile) {
  Underway underway;
  std::vector<Message> records(10);
  std::set<std::uint32_t> turned;
  for (std::size_t i = 0; i < records.size(); ++i) {
    EndName name{};
    ASSERT_TRUE(underway.add(records[i], i % 3 == 0 ? Says::turned : Says::issued, name));
    if (i % 3 == 0) turned.insert(name.slot);
  }
  std::set<std::uint32_t> met;
  underway.each(Says::turned, [&](const EndName& name, Message& record) {
    EXPECT_TRUE(met.insert(name.slot).second);
    EXPECT_EQ(underway.find(name), &record);
    if (met.size() % 2 == 0) {
      EXPECT_EQ(underway.end(name), &record);
    }
  });
  EXPECT_EQ(met, turned);
  EXPECT_EQ(underway.count(Says::turned), 2u);
  std::size_t drained = 0;
  underway.drain([&](Message&) { ++drained; });
  EXPECT_EQ(drained, records.size());
  EXPECT_EQ(underway.count(), 0u);
}

}  // namespace
}  // namespace photon::task
