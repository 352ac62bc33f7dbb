#include "service/am/handlers.hpp"

#include <gtest/gtest.h>

#include "shortage.hpp"

namespace photon::service::am {
namespace {

ph_status one(void*, const ph_am_message*, ph_am_landing*) { return PH_OK; }
ph_status other(void*, const ph_am_message*, ph_am_landing*) { return PH_ERR_STATE; }

TEST(Handlers, finds_what_was_added_and_nothing_else) {
  HandlerTable table;
  int user = 0;
  for (const std::uint32_t id : {0U, 255U, 256U, 65535U}) {
    EXPECT_EQ(table.find(id), nullptr) << id;
    ASSERT_TRUE(table.add(id, one, &user)) << id;
    ASSERT_NE(table.find(id), nullptr) << id;
    EXPECT_EQ(table.find(id)->handler, one);
    EXPECT_EQ(table.find(id)->user, &user);
  }
  for (const std::uint32_t id : {1U, 254U, 257U, 65534U, 30000U})
    EXPECT_EQ(table.find(id), nullptr) << id;
}

TEST(Handlers, refuses_an_id_that_is_taken_and_keeps_its_handler) {
  HandlerTable table;
  ASSERT_TRUE(table.add(7, one, nullptr));
  EXPECT_FALSE(table.add(7, other, nullptr));
  EXPECT_EQ(table.find(7)->handler, one);
}

TEST(Handlers, is_not_found_any_more_once_it_is_retired_and_the_id_is_free_at_once) {
  HandlerTable table;
  EXPECT_EQ(table.retire(7, 0), nullptr) << "nobody is registered";
  ASSERT_TRUE(table.add(7, one, nullptr));
  const HandlerNode* const node = table.retire(7, 0);
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(table.find(7), nullptr);
  EXPECT_EQ(table.retire(7, 0), nullptr) << "another thread unregisters it";
  ASSERT_TRUE(table.add(7, other, nullptr));
  EXPECT_EQ(table.find(7)->handler, other);
  EXPECT_EQ(table.retired(), 1u);
}

// Who unregisters frees what the handler uses, so that it must not fail.
TEST(Handlers, is_retired_though_there_is_no_memory) {
  constexpr std::uint32_t kIds = 40;
  HandlerTable table;
  for (std::uint32_t id = 0; id < kIds; ++id) ASSERT_TRUE(table.add(id, one, nullptr));
  for (std::uint32_t id = 0; id < kIds / 2; ++id) ASSERT_NE(table.retire(id, 1), nullptr);
  for (std::uint32_t id = 0; id < kIds / 2; ++id) ASSERT_TRUE(table.add(id, one, nullptr));
  const photon::test::Shortage shortage(0);
  for (std::uint32_t id = 0; id < kIds; ++id) EXPECT_NE(table.retire(id, 1), nullptr) << id;
}

TEST(Handlers, is_freed_when_the_runs_that_may_have_found_it_are_over) {
  HandlerTable table;
  ASSERT_TRUE(table.add(7, one, nullptr));
  const HandlerNode* const node = table.retire(7, 5);
  EXPECT_FALSE(table.is_over(node, 4));
  EXPECT_EQ(table.retired(), 1u);
  EXPECT_TRUE(table.is_over(node, 5));
  EXPECT_EQ(table.retired(), 0u);
}

TEST(Handlers, is_not_freed_while_a_pull_carries_it) {
  HandlerTable table;
  ASSERT_TRUE(table.add(7, one, nullptr));
  HandlerNode* const found = table.find(7);
  ++found->pulls;
  const HandlerNode* const node = table.retire(7, 0);
  EXPECT_FALSE(table.is_over(node, 9));
  --found->pulls;
  EXPECT_TRUE(table.is_over(node, 9));
}

}  // namespace
}  // namespace photon::service::am
