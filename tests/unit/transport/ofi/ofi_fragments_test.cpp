// Fragments and leases over their events, as their initiator sees them.
#include "transport/ofi/ofi_fragments.hpp"

#include <gtest/gtest.h>
#include <photon/memory.h>

#include <vector>

namespace photon::transport::ofi {
namespace {

using Kind = Fragments::Next::Kind;

constexpr std::uint64_t kAddress = 0x10000;
constexpr std::uint64_t kSize = 4096;

class OfiFragments : public testing::Test {
 protected:
  static PostedFragment fragment(std::uint64_t key, std::uint64_t offset = 0,
                                 std::uint64_t bytes = 8) {
    static const std::byte source[kSize] = {};
    PostedFragment made;
    made.address = kAddress + offset;
    made.key = key;
    made.size_bytes = bytes;
    made.source = source;
    return made;
  }
  static TellBody yes(std::uint64_t key, std::uint64_t rma_endpoint = 1) {
    TellBody answer;
    answer.key = key;
    answer.access = PH_ACCESS_WRITE;
    answer.address = kAddress;
    answer.size_bytes = kSize;
    answer.begin = 100;
    answer.rma_endpoint_key = 55;
    answer.rma_endpoint = rma_endpoint;
    return answer;
  }
  static TellBody no(std::uint64_t key, ph_status status) {
    TellBody answer;
    answer.key = key;
    answer.status = status;
    return answer;
  }
  Fragments::Slot& add(std::uint64_t key) {
    Fragments::Slot* slot = fragments.add(fragment(key));
    EXPECT_NE(slot, nullptr);
    return *slot;
  }
  // It was asked for, granted, and is under way.
  Fragments::Slot& under_way(std::uint64_t key) {
    Fragments::Slot& slot = add(key);
    if (fragments.next(slot).kind == Kind::wait) {
      EXPECT_TRUE(fragments.told(yes(key)));
    }
    EXPECT_EQ(fragments.next(slot).kind, Kind::go);
    fragments.taken(slot, 1);
    return slot;
  }
  // What was said since the last time.
  std::vector<std::pair<MessageKind, std::uint64_t>> said() {
    std::vector<std::pair<MessageKind, std::uint64_t>> all;
    for (; !words.empty(); words.pop())
      all.emplace_back(words.front().kind, words.front().body.key);
    return all;
  }
  using Said = std::vector<std::pair<MessageKind, std::uint64_t>>;

  Words words;
  Fragments fragments{3, 4, words};
};

TEST_F(OfiFragments, of_one_key_ask_once_and_go_when_it_is_granted) {
  Fragments::Slot& one = add(7);
  Fragments::Slot& two = add(7);
  EXPECT_EQ(fragments.next(one).kind, Kind::wait);
  EXPECT_EQ(fragments.next(two).kind, Kind::wait);
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}}));
  ASSERT_TRUE(fragments.told(yes(7)));
  const auto next = fragments.next(two);
  EXPECT_EQ(next.kind, Kind::go);
  EXPECT_EQ(next.place.address, 100u);
  EXPECT_EQ(next.place.key, 55u);
  EXPECT_EQ(next.rma_endpoint, 1u);
  EXPECT_EQ(one.operation.rank, 3u);
  EXPECT_TRUE(one.operation.is_fragment);
}

TEST_F(OfiFragments, beyond_what_was_granted_are_refused_without_a_question) {
  under_way(7);
  const auto refusal = [&](const PostedFragment& wanted) {
    Fragments::Slot* slot = fragments.add(wanted);
    const auto next = fragments.next(*slot);
    EXPECT_EQ(next.kind, Kind::over);
    fragments.dismiss(*slot);
    return next.status;
  };
  static_cast<void>(said());
  EXPECT_EQ(refusal(fragment(7, kSize - 7)), PH_ERR_RANGE);
  EXPECT_EQ(refusal(fragment(7, std::uint64_t{0} - 1)), PH_ERR_RANGE);
  EXPECT_EQ(refusal(fragment(7, 0, kSize + 1)), PH_ERR_RANGE);
  EXPECT_EQ(refusal(fragment(0)), PH_ERR_KEY);
  PostedFragment read = fragment(7);
  std::byte into[8];
  read.source = nullptr;
  read.destination = into;
  EXPECT_EQ(refusal(read), PH_ERR_ACCESS);
  EXPECT_EQ(said(), Said{});
}

TEST_F(OfiFragments, that_are_refused_are_asked_for_again_the_next_time) {
  Fragments::Slot& slot = add(7);
  fragments.next(slot);
  ASSERT_TRUE(fragments.told(no(7, PH_ERR_KEY)));
  EXPECT_EQ(fragments.next(slot).kind, Kind::over);
  EXPECT_EQ(fragments.next(slot).status, PH_ERR_KEY);
  fragments.dismiss(slot);
  fragments.tidy();
  static_cast<void>(said());
  fragments.next(add(7));
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}}));
}

TEST_F(OfiFragments, give_a_new_key_back_and_keep_one_that_comes_again) {
  Fragments::Slot& first = under_way(7);
  fragments.tidy();
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}})) << "it is in use";
  fragments.over(first);
  fragments.tidy();
  EXPECT_EQ(said(), (Said{{MessageKind::given, 7}}));
  Fragments::Slot& second = under_way(7);
  fragments.over(second);
  fragments.tidy();
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}}));
  EXPECT_EQ(fragments.next(add(7)).kind, Kind::go) << "without a question";
}

TEST_F(OfiFragments, that_wait_for_room_keep_their_lease) {
  Fragments::Slot& slot = add(7);
  fragments.next(slot);
  ASSERT_TRUE(fragments.told(yes(7)));
  EXPECT_EQ(fragments.next(slot).kind, Kind::go);  // but the provider is full
  static_cast<void>(said());
  fragments.tidy();
  EXPECT_EQ(said(), Said{});
}

TEST_F(OfiFragments, under_way_end_before_a_lease_is_given_back_and_new_ones_ask) {
  Fragments::Slot& slot = under_way(7);
  static_cast<void>(said());
  fragments.called_back(7);
  Fragments::Slot& late = add(7);
  EXPECT_EQ(fragments.next(late).kind, Kind::wait);
  fragments.tidy();
  EXPECT_EQ(said(), Said{});
  fragments.over(slot);
  fragments.tidy();
  EXPECT_EQ(said(), (Said{{MessageKind::given, 7}, {MessageKind::ask, 7}}));
  fragments.called_back(8);  // never heard of
  fragments.called_back(7);  // it crossed our own
  fragments.tidy();
  EXPECT_EQ(said(), Said{});
}

TEST_F(OfiFragments, that_fail_ask_once_and_go_by_the_new_rma_endpoint) {
  Fragments::Slot& one = under_way(7);
  Fragments::Slot& two = under_way(7);
  static_cast<void>(said());
  fragments.failed(one, 1);
  fragments.failed(two, 1);
  EXPECT_EQ(fragments.next(one).kind, Kind::wait);
  fragments.tidy();
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}}));
  ASSERT_TRUE(fragments.told(yes(7, 2)));
  EXPECT_EQ(fragments.next(one).kind, Kind::go);
  EXPECT_EQ(fragments.next(two).rma_endpoint, 2u);
}

TEST_F(OfiFragments, that_fail_by_a_rma_endpoint_that_is_there_are_a_fault) {
  Fragments::Slot& slot = under_way(7);
  fragments.failed(slot, 1);
  ASSERT_TRUE(fragments.told(yes(7, 1)));
  EXPECT_EQ(fragments.next(slot).kind, Kind::fault);
}

TEST_F(OfiFragments, whose_rma_endpoint_has_ended_ask_and_idle_leases_of_it_are_forgotten) {
  Fragments::Slot& slot = under_way(7);
  fragments.next(add(8));
  ASSERT_TRUE(fragments.told(yes(8)));
  static_cast<void>(said());
  fragments.rma_endpoint_ended(2);
  EXPECT_EQ(said(), Said{}) << "that is not theirs";
  fragments.rma_endpoint_ended(1);
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}}));
  EXPECT_FALSE(fragments.told(yes(8)));
  fragments.failed(slot, 1);
  EXPECT_EQ(said(), Said{}) << "it is asked already";
  ASSERT_TRUE(fragments.told(yes(7, 2)));
  EXPECT_EQ(fragments.next(slot).kind, Kind::go);
}

// The peer may still read what went by our RMA endpoint that ended, and only the end of its RMA
// endpoint proves that it does not.
TEST_F(OfiFragments, that_are_recalled_have_their_owner_end_its_rma_endpoint_and_wait_for_that) {
  Fragments::Slot& one = under_way(7);
  Fragments::Slot& two = under_way(7);
  Fragments::Slot& other = under_way(8);
  static_cast<void>(said());
  for (Fragments::Slot* slot : {&one, &two, &other}) fragments.recall(*slot);
  EXPECT_EQ(fragments.under_way(), 0u);
  ASSERT_EQ(words.size(), 1u) << "once for all";
  EXPECT_EQ(words.front().body.rma_endpoint, 1u);
  EXPECT_EQ(said(), (Said{{MessageKind::given, 0}}));
  EXPECT_EQ(fragments.next(one).kind, Kind::wait);
  fragments.rma_endpoint_ended(1);
  EXPECT_EQ(fragments.next(one).kind, Kind::wait);
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}}));
  ASSERT_TRUE(fragments.told(yes(7, 2)));
  EXPECT_EQ(fragments.next(one).kind, Kind::go);
  EXPECT_EQ(fragments.next(two).rma_endpoint, 2u);
}

TEST_F(OfiFragments,
       that_were_recalled_leave_a_lease_that_is_not_given_back_before_its_rma_endpoint_ends) {
  Fragments::Slot& slot = under_way(7);
  fragments.recall(slot);
  static_cast<void>(said());
  fragments.tidy();
  fragments.called_back(7);
  fragments.tidy();
  fragments.give_all();
  EXPECT_EQ(said(), Said{});
  Fragments::Slot& late = add(7);
  EXPECT_EQ(fragments.next(late).kind, Kind::wait);
  fragments.rma_endpoint_ended(1);
  EXPECT_EQ(fragments.next(late).kind, Kind::wait);
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}}));
  ASSERT_TRUE(fragments.told(yes(7, 2)));
  ASSERT_EQ(fragments.next(late).kind, Kind::go);
  fragments.taken(late, 2);
  fragments.over(late);
  fragments.called_back(7);
  fragments.tidy();
  EXPECT_EQ(said(), (Said{{MessageKind::given, 7}}));
}

// Its owner waits for that with what was called back.
TEST_F(OfiFragments, that_fail_leave_a_lease_that_is_not_given_back_before_its_rma_endpoint_ends) {
  Fragments::Slot& slot = under_way(7);
  static_cast<void>(said());
  fragments.called_back(7);
  fragments.failed(slot, 1);
  EXPECT_EQ(fragments.next(slot).kind, Kind::wait);
  fragments.tidy();
  EXPECT_EQ(said(), Said{});
  fragments.rma_endpoint_ended(1);
  EXPECT_EQ(fragments.next(slot).kind, Kind::wait);
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}}));
  ASSERT_TRUE(fragments.told(yes(7, 2)));
  EXPECT_EQ(fragments.next(slot).kind, Kind::go);
}

// Another one had failed, and the question about it crossed the end of our RMA endpoint.
TEST_F(OfiFragments, that_are_recalled_while_their_key_is_asked_wait_for_another_rma_endpoint) {
  Fragments::Slot& failed = under_way(7);
  Fragments::Slot& recalled = under_way(7);
  fragments.failed(failed, 1);
  fragments.recall(recalled);
  ASSERT_TRUE(fragments.told(yes(7, 1)));
  EXPECT_EQ(fragments.next(recalled).kind, Kind::wait);
  fragments.rma_endpoint_ended(1);
  fragments.next(recalled);
  ASSERT_TRUE(fragments.told(yes(7, 2)));
  EXPECT_EQ(fragments.next(recalled).kind, Kind::go);
}

TEST_F(OfiFragments, that_are_recalled_after_their_rma_endpoint_has_ended_need_no_other_end) {
  Fragments::Slot& slot = under_way(7);
  fragments.rma_endpoint_ended(1);
  ASSERT_TRUE(fragments.told(yes(7, 2)));
  static_cast<void>(said());
  fragments.recall(slot);
  EXPECT_EQ(said(), Said{});
  EXPECT_EQ(fragments.next(slot).kind, Kind::go);
}

TEST_F(OfiFragments, answers_that_nobody_asked_for_or_that_say_nonsense_are_none) {
  EXPECT_FALSE(fragments.told(yes(7)));
  fragments.next(add(7));
  EXPECT_FALSE(fragments.told(yes(7, 0)));
  EXPECT_FALSE(fragments.told(no(7, PH_ERR_PEER)));
  EXPECT_FALSE(fragments.told(no(7, PH_AGAIN)));
  TellBody endless = yes(7);
  endless.rma_endpoint_bytes = kMostAddressBytes + 1;
  EXPECT_FALSE(fragments.told(endless));
  ASSERT_TRUE(fragments.told(yes(7)));
  EXPECT_FALSE(fragments.told(yes(7))) << "twice";
}

TEST_F(OfiFragments, who_leaves_gives_back_what_is_not_in_use) {
  under_way(7);
  fragments.over(under_way(8));
  fragments.tidy();
  fragments.over(under_way(8));  // kept
  fragments.tidy();
  static_cast<void>(said());
  fragments.give_all();
  EXPECT_EQ(said(), (Said{{MessageKind::given, 8}}));
}

TEST_F(OfiFragments, are_no_more_than_there_are_slots_and_go_by_turns) {
  std::vector<Fragments::Slot*> slots;
  for (int i = 0; i < 4; ++i) slots.push_back(&add(7));
  EXPECT_EQ(fragments.add(fragment(7)), nullptr);
  fragments.next(*slots[0]);
  ASSERT_TRUE(fragments.told(yes(7)));
  EXPECT_EQ(fragments.first(), 0u);
  fragments.taken(*slots[1], 1);
  EXPECT_EQ(fragments.first(), 2u);
  fragments.taken(*slots[3], 1);
  EXPECT_EQ(fragments.first(), 0u);
  fragments.over(*slots[1]);
  EXPECT_EQ(fragments.add(fragment(7)), slots[1]);
}

}  // namespace
}  // namespace photon::transport::ofi
