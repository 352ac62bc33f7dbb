#include "boot/address_boot.hpp"

#include <sys/socket.h>

#include "address_ranks.hpp"

namespace photon::test {
namespace {

using Kind = boot::Message::Kind;

void expect_address_refused(boot::Boot& boot, std::span<const std::byte> address, ph_status status,
                            const char* words) {
  const auto connected = boot.connect(address);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().status, status) << connected.error().what;
  EXPECT_NE(connected.error().what.find(words), std::string::npos) << connected.error().what;
}

TEST(AddressBoot, a_message_goes_to_whom_an_address_was_given_for_and_can_be_answered) {
  AddressRanks ranks(3);
  EXPECT_TRUE(ranks[0].knows(0));
  EXPECT_FALSE(ranks[0].knows(1));
  EXPECT_EQ(*ranks[0].connect(blob_of(ranks[1])), 1u);
  EXPECT_TRUE(ranks[0].passes_descriptors(1));
  EXPECT_EQ(ranks[0].local_size(), 2u);
  ASSERT_TRUE(*ranks[0].send(1, as_bytes("hello"), {}));
  ASSERT_TRUE(*ranks[0].send(1, as_bytes("again"), {}));
  EXPECT_FALSE(ranks[1].knows(0));
  for (const char* text : {"hello", "again"}) {
    const auto message = await_message(ranks[1]);
    ASSERT_TRUE(message);
    EXPECT_EQ(message->from, 0u);
    EXPECT_EQ(as_text(message->bytes), text);
  }
  // Nobody has given it our address: we have said ourselves who we are.
  EXPECT_TRUE(ranks[1].knows(0));
  ASSERT_TRUE(*ranks[1].send(0, as_bytes("answer"), {}));
  EXPECT_EQ(as_text(await_message(ranks[0])->bytes), "answer");
  EXPECT_EQ(*ranks[1].connect(blob_of(ranks[0])), 0u);
  EXPECT_EQ(ranks[0].dropped_count() + ranks[1].dropped_count(), 0u);
}

TEST(AddressBoot, the_first_messages_may_cross) {
  AddressRanks ranks(2);
  ASSERT_TRUE(ranks[0].connect(blob_of(ranks[1])));
  ASSERT_TRUE(ranks[1].connect(blob_of(ranks[0])));
  ASSERT_TRUE(*ranks[0].send(1, as_bytes("from 0"), {}));
  ASSERT_TRUE(*ranks[1].send(0, as_bytes("from 1"), {}));
  EXPECT_EQ(as_text(await_message(ranks[0])->bytes), "from 1");
  EXPECT_EQ(as_text(await_message(ranks[1])->bytes), "from 0");
}

TEST(AddressBoot, who_has_no_address_is_told_so_and_nothing_is_changed) {
  AddressRanks ranks(2);
  const auto sent = ranks[0].send(1, as_bytes("to nobody"), {});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().status, PH_ERR_NOT_FOUND);
  EXPECT_EQ(sent.error().rank, 1u);
  EXPECT_FALSE(ranks[0].has_left(1));
  EXPECT_TRUE(ranks[0].idle());
  ASSERT_TRUE(ranks[0].connect(blob_of(ranks[1])));
  ASSERT_TRUE(*ranks[0].send(1, as_bytes("now"), {}));
  EXPECT_EQ(as_text(await_message(ranks[1])->bytes), "now");
}

TEST(AddressBoot, the_same_address_twice_is_fine_and_another_for_a_known_rank_is_not) {
  AddressRanks ranks(2);
  const auto twin = std::move(*open_address_boot(1, 2));
  ASSERT_TRUE(ranks[0].connect(blob_of(ranks[1])));
  EXPECT_TRUE(ranks[0].connect(blob_of(ranks[1])));
  EXPECT_EQ(ranks[0].local_size(), 2u);
  expect_address_refused(ranks[0], blob_of(*twin), PH_ERR_BOOTSTRAP, "another address");
  EXPECT_TRUE(ranks[0].connect(blob_of(ranks[0])));
  const auto own_twin = std::move(*open_address_boot(0, 2));
  expect_address_refused(ranks[0], blob_of(*own_twin), PH_ERR_BOOTSTRAP, "another address");
}

TEST(AddressBoot, two_processes_of_one_number_are_told_apart_and_the_second_is_told) {
  AddressRanks ranks(2);
  const auto twin = std::move(*open_address_boot(1, 2));
  ASSERT_TRUE(ranks[0].connect(blob_of(ranks[1])));
  ASSERT_TRUE(twin->connect(blob_of(ranks[0])));
  ASSERT_TRUE(*twin->send(0, as_bytes("I am rank 1"), {}));
  ASSERT_TRUE(ranks[1].connect(blob_of(ranks[0])));
  ASSERT_TRUE(*ranks[1].send(0, as_bytes("no, I am"), {}));
  EXPECT_EQ(as_text(await_message(ranks[0])->bytes), "no, I am");
  EXPECT_EQ(ranks[0].dropped_count(), 2u);
  const auto told = await_message(*twin);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->kind, Kind::gone);
  EXPECT_NE(std::string(told->why).find("another process"), std::string::npos);
}

TEST(AddressBoot, a_bad_address_is_refused_and_changes_nothing) {
  AddressRanks ranks(2);
  const auto address = blob_of(ranks[1]);
  expect_address_refused(ranks[0], std::span(address).first(100), PH_ERR_ARGUMENT, "cut off");
  const auto other_job = std::move(*open_address_boot(1, 2, "another secret, as long"));
  expect_address_refused(ranks[0], blob_of(*other_job), PH_ERR_BOOTSTRAP, "another job");
  const auto other_size = std::move(*open_address_boot(1, 3));
  expect_address_refused(ranks[0], blob_of(*other_size), PH_ERR_BOOTSTRAP, "3 ranks");
  auto garbled = address;
  garbled[150] ^= std::byte{1};
  expect_address_refused(ranks[0], garbled, PH_ERR_ARGUMENT, "damaged");
  EXPECT_FALSE(ranks[0].knows(1));
  EXPECT_EQ(ranks[0].local_size(), 1u);
  EXPECT_EQ(*ranks[0].connect(address), 1u);
}

TEST(AddressBoot, a_job_that_is_none_is_refused) {
  for (const auto& [rank, size, secret] :
       {std::tuple{0u, 0u, kJobSecret}, std::tuple{2u, 2u, kJobSecret},
        std::tuple{0u, boot::kMostRanks + 1, kJobSecret}, std::tuple{0u, ~0u, kJobSecret},
        std::tuple{0u, 2u, std::string_view("too short")}}) {
    const auto opened = open_address_boot(rank, size, secret);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().status, PH_ERR_ARGUMENT);
  }
}

TEST(AddressBoot, who_has_ended_before_it_was_met_is_told_so) {
  AddressRanks ranks(3);
  const auto ended = blob_of(ranks[1]), ends = blob_of(ranks[2]);
  ranks.drop(1);
  expect_address_refused(ranks[0], ended, PH_ERR_PEER, "has ended");
  ASSERT_TRUE(ranks[0].connect(ends));
  ranks.drop(2);
  EXPECT_FALSE(*ranks[0].send(2, as_bytes("too late"), {}));
}

TEST(AddressBoot, who_leaves_says_so_to_those_that_it_has_not_read) {
  AddressRanks ranks(2);
  ASSERT_TRUE(ranks[0].connect(blob_of(ranks[1])));
  ASSERT_TRUE(*ranks[0].send(1, as_bytes("never read"), {}));
  ASSERT_TRUE(ranks[1].leave());
  const auto told = await_message(ranks[0]);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->kind, Kind::gone);
  EXPECT_TRUE(ranks[0].has_left(1));
}

TEST(AddressBoot, collectives_are_refused_at_once) {
  AddressRanks ranks(2);
  std::byte mine{}, all[2];
  EXPECT_EQ(ranks[0].barrier({}).error().status, PH_ERR_STATE);
  EXPECT_EQ(ranks[0].allgather({&mine, 1}, all, {}).error().status, PH_ERR_STATE);
}

TEST(AddressBoot, opens_without_a_network_and_reaches_its_host) {
  const auto alone = open_address_boot(0, 2, kJobSecret, "no-such-0");
  const auto other = open_address_boot(1, 2, kJobSecret, "no-such-0");
  ASSERT_TRUE(alone && other);
  ASSERT_TRUE((*alone)->connect(blob_of(**other)));
  ASSERT_TRUE(*(*alone)->send(1, as_bytes("near"), {}));
  EXPECT_EQ(as_text(await_message(**other)->bytes), "near");
}

}  // namespace
}  // namespace photon::test
