#include "task/buffer/waiting.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace photon::task {
namespace {

using Gone = std::vector<const Message*>;

// Two records for each of three processes; those of process 1 find no room.
TEST(TaskWaiting, a_process_that_takes_nothing_holds_up_what_is_for_it_alone) {
  Waiting waiting(3);
  EXPECT_FALSE(waiting.any());
  std::array<Message, 6> records{};
  for (std::uint32_t i = 0; i < records.size(); ++i) waiting.append(i % 3, records[i]);
  bool has_room = false;
  Gone gone[3];
  const auto go = [&](Message& record) {
    const auto process = static_cast<std::size_t>(&record - records.data()) % 3;
    if (process == 1 && !has_room) return false;
    record.link = 1;  // it stands in another list now
    gone[process].push_back(&record);
    return true;
  };
  EXPECT_TRUE(waiting.go_on(go));
  EXPECT_EQ(gone[0], (Gone{&records[0], &records[3]})) << "in the order of the calls";
  EXPECT_TRUE(gone[1].empty());
  EXPECT_EQ(gone[2], (Gone{&records[2], &records[5]}));
  EXPECT_TRUE(waiting.any_for(1));
  EXPECT_FALSE(waiting.any_for(0));
  EXPECT_FALSE(waiting.any_for(2));
  EXPECT_FALSE(waiting.go_on(go)) << "nothing went";
  EXPECT_TRUE(waiting.any());
  has_room = true;
  EXPECT_TRUE(waiting.go_on(go));
  EXPECT_EQ(gone[1], (Gone{&records[1], &records[4]}));
  EXPECT_FALSE(waiting.any());
  EXPECT_FALSE(waiting.go_on(go));
}

TEST(TaskWaiting, what_comes_behind_one_that_waits_goes_behind_it) {
  Waiting waiting(2);
  std::array<Message, 3> records{};
  waiting.append(1, records[0]);
  std::size_t room = 0;
  Gone gone;
  const auto go = [&](Message& record) {
    if (room == 0) return false;
    --room;
    gone.push_back(&record);
    return true;
  };
  EXPECT_FALSE(waiting.go_on(go));
  waiting.append(1, records[1]);
  room = 1;
  EXPECT_TRUE(waiting.go_on(go));
  waiting.append(1, records[2]);
  EXPECT_TRUE(waiting.any_for(1));
  room = 2;
  EXPECT_TRUE(waiting.go_on(go));
  EXPECT_EQ(gone, (Gone{&records[0], &records[1], &records[2]}));
  EXPECT_FALSE(waiting.any_for(1));
}

}  // namespace
}  // namespace photon::task
