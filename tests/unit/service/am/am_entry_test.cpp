// Copies of messages that wait, their list, and the bytes that they count.
#include "service/am/am_entry.hpp"

#include "am_sending.hpp"
#include "shortage.hpp"

namespace photon::service::am::sending_test {
namespace {

std::unique_ptr<Entry> entry_of(std::uint64_t token) {
  auto entry = std::make_unique<Entry>();
  entry->token = token;
  return entry;
}

std::vector<std::uint64_t> tokens_of(EntryList& list) {
  std::vector<std::uint64_t> tokens;
  while (!list.empty()) tokens.push_back(list.pop()->token);
  return tokens;
}

using Tokens = std::vector<std::uint64_t>;

TEST(AmEntry, a_list_keeps_the_order_from_both_ends) {
  EntryList list;
  EXPECT_TRUE(list.empty());
  list.push_front(entry_of(2));
  list.push(entry_of(3));
  list.push_front(entry_of(1));
  list.push(entry_of(4));
  EXPECT_EQ(list.size(), 4u);
  EXPECT_EQ(list.front().token, 1u);
  EXPECT_EQ(tokens_of(list), (Tokens{1, 2, 3, 4}));
  EXPECT_EQ(list.size(), 0u);
  list.push(entry_of(5));
  EXPECT_EQ(tokens_of(list), (Tokens{5})) << "after it was empty";
}

TEST(AmEntry, each_one_can_be_taken_out) {
  for (std::uint64_t gone = 1; gone <= 4; ++gone) {
    EntryList list;
    for (std::uint64_t i = 1; i <= 3; ++i) list.push(entry_of(i));
    const auto taken = list.take(gone);
    EXPECT_EQ(taken != nullptr, gone <= 3) << gone;
    list.push(entry_of(9));
    Tokens left;
    for (std::uint64_t i = 1; i <= 3; ++i)
      if (i != gone) left.push_back(i);
    left.push_back(9);
    EXPECT_EQ(list.size(), left.size());
    EXPECT_EQ(tokens_of(list), left) << gone;
  }
}

TEST(AmEntry, a_long_list_ends_without_a_deep_stack) {
  EntryList list;
  for (std::uint64_t i = 0; i < 300'000; ++i) list.push(entry_of(i));
}

TEST(AmEntry, a_copy_outlives_its_callers_memory) {
  for (const std::size_t size : {0, 8, 48, 49, 3000}) {
    Bytes payload = some(size);
    const ph_const_block block{payload.data(), payload.size()};
    Draft draft;
    draft.payload = {&block, 1};
    draft.payload_bytes = size;
    choose_way(draft, 192);
    EntryPool pool(4);
    const auto entry = pool.make(draft);
    std::fill(payload.begin(), payload.end(), std::byte{0xcc});
    EXPECT_EQ(bytes_of(entry->bytes()), some(size)) << size;
    EXPECT_EQ(entry->memory != nullptr, size > 48) << "lines need no memory of their own";
  }
}

TEST(AmEntry, a_copy_that_finds_no_memory_throws) {
  const Bytes payload = some(3000);
  const ph_const_block block{payload.data(), payload.size()};
  Draft draft;
  draft.payload = {&block, 1};
  draft.payload_bytes = payload.size();
  choose_way(draft, 192);
  for (int allowed = 0; allowed < 2; ++allowed) {
    EntryPool pool(4);
    const photon::test::Shortage shortage(allowed);
    EXPECT_THROW(static_cast<void>(pool.make(draft)), std::bad_alloc);
  }
}

TEST(AmEntry, a_pool_needs_no_memory_for_what_it_was_given_and_keeps_no_more_than_it_may) {
  EntryPool pool(2);
  for (int i = 0; i < 3; ++i) pool.give(entry_of(77));
  std::vector<std::unique_ptr<Entry>> taken;
  taken.reserve(3);
  const photon::test::Shortage shortage(0);
  taken.push_back(pool.take());
  taken.push_back(pool.take());
  EXPECT_THROW(taken.push_back(pool.take()), std::bad_alloc);
}

TEST(AmEntry, of_a_pool_is_as_a_new_one_whatever_it_was_before) {
  EntryPool pool(1);
  const Bytes payload = some(100);
  const ph_const_block block{payload.data(), payload.size()};
  Draft draft;
  draft.head.word.flags = kTellsHandled;
  draft.payload = {&block, 1};
  draft.payload_bytes = payload.size();
  choose_way(draft, 192);
  auto entry = pool.make(draft);
  entry->note = {Note::Kind::id, false, 5};
  entry->counted = 9;
  entry->token = 3;
  pool.give(std::move(entry));
  entry = pool.take();
  EXPECT_EQ(entry->head.way, Way::line);
  EXPECT_EQ(encode(entry->head.word), encode(Word{}));
  EXPECT_EQ(entry->head.words_count, 0u);
  EXPECT_EQ(entry->note.kind, Note::Kind::none);
  EXPECT_EQ(entry->memory, nullptr);
  EXPECT_EQ(entry->counted + entry->token, 0u);
}

TEST(AmEntry, half_of_the_budget_is_for_those_outside_handlers) {
  Budget budget(1000);
  EXPECT_TRUE(budget.has_room(Asker::user));
  budget.take(499);
  EXPECT_TRUE(budget.has_room(Asker::user));
  budget.take(1);
  EXPECT_FALSE(budget.has_room(Asker::user));
  EXPECT_TRUE(budget.has_room(Asker::handler));
  budget.take(500);
  EXPECT_FALSE(budget.has_room(Asker::handler));
  EXPECT_TRUE(budget.has_room(Asker::reply)) << "its room is the requester's";
  budget.give(1);
  EXPECT_TRUE(budget.has_room(Asker::handler));
  EXPECT_EQ(budget.used(), 999u);
  EXPECT_EQ(budget.peak(), 1000u);
}

}  // namespace
}  // namespace photon::service::am::sending_test
