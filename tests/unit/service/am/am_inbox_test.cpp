#include "service/am/am_inbox.hpp"

#include <gtest/gtest.h>

#include "shortage.hpp"

namespace photon::service::am {
namespace {

using Bytes = std::vector<std::byte>;

Bytes counted(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 5 + 3);
  return bytes;
}

TEST(AmInbox, keeps_the_bytes_of_every_size_wherever_entries_move) {
  Inbox inbox;
  const std::size_t sizes[] = {0, 1, 48, 56, 57, 200, 1024, 1025, 40'000};
  for (const std::size_t size : sizes) {
    Arrived& entry = inbox.add(3, Word{});
    entry.payload_bytes = size;
    inbox.copy(entry, counted(size));
  }
  for (int i = 0; i < 100; ++i) inbox.add(1, Word{});  // the vector grows
  inbox.swap();
  std::size_t at = 0;
  for (const std::size_t size : sizes) {
    const Arrived& entry = inbox.running()[at++];
    const Bytes wanted = counted(size);
    EXPECT_EQ(Bytes(entry.payload(), entry.payload() + size), wanted) << size;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(entry.payload()) % 8, 0u) << size;
    EXPECT_EQ(entry.from, 3u);
  }
}

TEST(AmInbox, uses_an_entry_again_as_if_it_were_new) {
  Inbox inbox;
  Arrived& first = inbox.add(3, Word{});
  first.was_replied = true;
  first.status = PH_ERR_NOT_FOUND;
  first.items = first.items_wrong = 2;
  inbox.swap();
  inbox.release(inbox.running()[0]);
  inbox.clear_running();
  inbox.swap();  // the memory is that of `due` again
  const Arrived* again = nullptr;
  EXPECT_EQ(photon::test::allocations_of([&] { again = &inbox.add(4, Word{}); }), 0);
  EXPECT_EQ(again->from, 4u);
  EXPECT_EQ(again->status, PH_OK);
  EXPECT_FALSE(again->was_replied);
  EXPECT_EQ(again->items + again->items_wrong, 0u);
  EXPECT_TRUE(again->was_plain());
}

TEST(AmInbox, finds_the_header_behind_the_gap) {
  Inbox inbox;
  Bytes bytes = counted(32);
  Arrived& entry = inbox.add(0, Word{});
  entry.word.header_bytes = 8;
  entry.payload_bytes = 21;
  inbox.copy(entry, bytes);
  EXPECT_EQ(entry.header()[0], bytes[24]);
}

TEST(AmInbox, swaps_nothing_in_while_a_batch_is_left) {
  Inbox inbox;
  inbox.add(1, Word{});
  inbox.swap();
  inbox.add(2, Word{});
  inbox.swap();
  ASSERT_EQ(inbox.running().size(), 1u);
  EXPECT_EQ(inbox.running()[0].from, 1u);
  EXPECT_EQ(inbox.size(), 2u);
  inbox.clear_running();
  inbox.swap();
  EXPECT_EQ(inbox.running()[0].from, 2u);
}

TEST(AmInbox, gives_the_block_of_a_record_to_the_next_one) {
  Inbox inbox;
  const std::byte* first = nullptr;
  for (int i = 0; i < 3; ++i) {
    Arrived& entry = inbox.add(0, Word{});
    inbox.copy(entry, counted(300));
    if (first == nullptr) first = entry.payload();
    EXPECT_EQ(entry.payload(), first);
    inbox.release(entry);
  }
}

TEST(AmInbox, forgets_an_entry_that_is_taken_back) {
  Inbox inbox;
  inbox.copy(inbox.add(0, Word{}), counted(300));
  inbox.take_back();
  EXPECT_TRUE(inbox.empty());
}

}  // namespace
}  // namespace photon::service::am
