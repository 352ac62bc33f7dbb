// Pieces and leases over their events, as their initiator sees them.
#include "transport/ofi/ofi_pieces.hpp"

#include <gtest/gtest.h>
#include <photon/memory.h>

#include <vector>

namespace photon::transport::ofi {
namespace {

using Kind = Pieces::Next::Kind;

constexpr std::uint64_t kAddress = 0x10000;
constexpr std::uint64_t kSize = 4096;

class OfiPieces : public testing::Test {
 protected:
  static PostedPiece piece(std::uint64_t key, std::uint64_t offset = 0, std::uint64_t bytes = 8) {
    static const std::byte source[kSize] = {};
    PostedPiece made;
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
  Pieces::Slot& add(std::uint64_t key) {
    Pieces::Slot* slot = pieces.add(piece(key));
    EXPECT_NE(slot, nullptr);
    return *slot;
  }
  // It was asked for, granted, and is under way.
  Pieces::Slot& under_way(std::uint64_t key) {
    Pieces::Slot& slot = add(key);
    if (pieces.next(slot).kind == Kind::wait) {
      EXPECT_TRUE(pieces.told(yes(key)));
    }
    EXPECT_EQ(pieces.next(slot).kind, Kind::go);
    pieces.taken(slot, 1);
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
  Pieces pieces{3, 4, words};
};

TEST_F(OfiPieces, of_one_key_ask_once_and_go_when_it_is_granted) {
  Pieces::Slot& one = add(7);
  Pieces::Slot& two = add(7);
  EXPECT_EQ(pieces.next(one).kind, Kind::wait);
  EXPECT_EQ(pieces.next(two).kind, Kind::wait);
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}}));
  ASSERT_TRUE(pieces.told(yes(7)));
  const auto next = pieces.next(two);
  EXPECT_EQ(next.kind, Kind::go);
  EXPECT_EQ(next.place.address, 100u);
  EXPECT_EQ(next.place.key, 55u);
  EXPECT_EQ(next.rma_endpoint, 1u);
  EXPECT_EQ(one.operation.rank, 3u);
  EXPECT_TRUE(one.operation.is_piece);
}

TEST_F(OfiPieces, beyond_what_was_granted_are_refused_without_a_question) {
  under_way(7);
  const auto refusal = [&](const PostedPiece& wanted) {
    Pieces::Slot* slot = pieces.add(wanted);
    const auto next = pieces.next(*slot);
    EXPECT_EQ(next.kind, Kind::over);
    pieces.dismiss(*slot);
    return next.status;
  };
  static_cast<void>(said());
  EXPECT_EQ(refusal(piece(7, kSize - 7)), PH_ERR_RANGE);
  EXPECT_EQ(refusal(piece(7, std::uint64_t{0} - 1)), PH_ERR_RANGE);
  EXPECT_EQ(refusal(piece(7, 0, kSize + 1)), PH_ERR_RANGE);
  EXPECT_EQ(refusal(piece(0)), PH_ERR_KEY);
  PostedPiece read = piece(7);
  std::byte into[8];
  read.source = nullptr;
  read.destination = into;
  EXPECT_EQ(refusal(read), PH_ERR_ACCESS);
  EXPECT_EQ(said(), Said{});
}

TEST_F(OfiPieces, that_are_refused_are_asked_for_again_the_next_time) {
  Pieces::Slot& slot = add(7);
  pieces.next(slot);
  ASSERT_TRUE(pieces.told(no(7, PH_ERR_KEY)));
  EXPECT_EQ(pieces.next(slot).kind, Kind::over);
  EXPECT_EQ(pieces.next(slot).status, PH_ERR_KEY);
  pieces.dismiss(slot);
  pieces.tidy();
  static_cast<void>(said());
  pieces.next(add(7));
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}}));
}

TEST_F(OfiPieces, give_a_new_key_back_and_keep_one_that_comes_again) {
  Pieces::Slot& first = under_way(7);
  pieces.tidy();
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}})) << "it is in use";
  pieces.over(first);
  pieces.tidy();
  EXPECT_EQ(said(), (Said{{MessageKind::given, 7}}));
  Pieces::Slot& second = under_way(7);
  pieces.over(second);
  pieces.tidy();
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}}));
  EXPECT_EQ(pieces.next(add(7)).kind, Kind::go) << "without a question";
}

TEST_F(OfiPieces, that_wait_for_room_keep_their_lease) {
  Pieces::Slot& slot = add(7);
  pieces.next(slot);
  ASSERT_TRUE(pieces.told(yes(7)));
  EXPECT_EQ(pieces.next(slot).kind, Kind::go);  // but the provider is full
  static_cast<void>(said());
  pieces.tidy();
  EXPECT_EQ(said(), Said{});
}

TEST_F(OfiPieces, under_way_end_before_a_lease_is_given_back_and_new_ones_ask) {
  Pieces::Slot& slot = under_way(7);
  static_cast<void>(said());
  pieces.called_back(7);
  Pieces::Slot& late = add(7);
  EXPECT_EQ(pieces.next(late).kind, Kind::wait);
  pieces.tidy();
  EXPECT_EQ(said(), Said{});
  pieces.over(slot);
  pieces.tidy();
  EXPECT_EQ(said(), (Said{{MessageKind::given, 7}, {MessageKind::ask, 7}}));
  pieces.called_back(8);  // never heard of
  pieces.called_back(7);  // it crossed our own
  pieces.tidy();
  EXPECT_EQ(said(), Said{});
}

TEST_F(OfiPieces, that_fail_ask_once_and_go_by_the_new_rma_endpoint) {
  Pieces::Slot& one = under_way(7);
  Pieces::Slot& two = under_way(7);
  static_cast<void>(said());
  pieces.failed(one, 1);
  pieces.failed(two, 1);
  EXPECT_EQ(pieces.next(one).kind, Kind::wait);
  pieces.tidy();
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}}));
  ASSERT_TRUE(pieces.told(yes(7, 2)));
  EXPECT_EQ(pieces.next(one).kind, Kind::go);
  EXPECT_EQ(pieces.next(two).rma_endpoint, 2u);
}

TEST_F(OfiPieces, that_fail_by_a_rma_endpoint_that_is_there_are_a_fault) {
  Pieces::Slot& slot = under_way(7);
  pieces.failed(slot, 1);
  ASSERT_TRUE(pieces.told(yes(7, 1)));
  EXPECT_EQ(pieces.next(slot).kind, Kind::fault);
}

TEST_F(OfiPieces, whose_rma_endpoint_has_ended_ask_and_idle_leases_of_it_are_forgotten) {
  Pieces::Slot& slot = under_way(7);
  pieces.next(add(8));
  ASSERT_TRUE(pieces.told(yes(8)));
  static_cast<void>(said());
  pieces.rma_endpoint_ended(2);
  EXPECT_EQ(said(), Said{}) << "that is not theirs";
  pieces.rma_endpoint_ended(1);
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}}));
  EXPECT_FALSE(pieces.told(yes(8)));
  pieces.failed(slot, 1);
  EXPECT_EQ(said(), Said{}) << "it is asked already";
  ASSERT_TRUE(pieces.told(yes(7, 2)));
  EXPECT_EQ(pieces.next(slot).kind, Kind::go);
}

// The peer may still read what went by our RMA endpoint that ended, and only the end of its RMA
// endpoint proves that it does not.
TEST_F(OfiPieces, that_are_recalled_have_their_owner_end_its_rma_endpoint_and_wait_for_that) {
  Pieces::Slot& one = under_way(7);
  Pieces::Slot& two = under_way(7);
  Pieces::Slot& other = under_way(8);
  static_cast<void>(said());
  for (Pieces::Slot* slot : {&one, &two, &other}) pieces.recall(*slot);
  EXPECT_EQ(pieces.under_way(), 0u);
  ASSERT_EQ(words.size(), 1u) << "once for all";
  EXPECT_EQ(words.front().body.rma_endpoint, 1u);
  EXPECT_EQ(said(), (Said{{MessageKind::given, 0}}));
  EXPECT_EQ(pieces.next(one).kind, Kind::wait);
  pieces.rma_endpoint_ended(1);
  EXPECT_EQ(pieces.next(one).kind, Kind::wait);
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}}));
  ASSERT_TRUE(pieces.told(yes(7, 2)));
  EXPECT_EQ(pieces.next(one).kind, Kind::go);
  EXPECT_EQ(pieces.next(two).rma_endpoint, 2u);
}

TEST_F(OfiPieces,
       that_were_recalled_leave_a_lease_that_is_not_given_back_before_its_rma_endpoint_ends) {
  Pieces::Slot& slot = under_way(7);
  pieces.recall(slot);
  static_cast<void>(said());
  pieces.tidy();
  pieces.called_back(7);
  pieces.tidy();
  pieces.give_all();
  EXPECT_EQ(said(), Said{});
  Pieces::Slot& late = add(7);
  EXPECT_EQ(pieces.next(late).kind, Kind::wait);
  pieces.rma_endpoint_ended(1);
  EXPECT_EQ(pieces.next(late).kind, Kind::wait);
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}}));
  ASSERT_TRUE(pieces.told(yes(7, 2)));
  ASSERT_EQ(pieces.next(late).kind, Kind::go);
  pieces.taken(late, 2);
  pieces.over(late);
  pieces.called_back(7);
  pieces.tidy();
  EXPECT_EQ(said(), (Said{{MessageKind::given, 7}}));
}

// Its owner waits for that with what was called back.
TEST_F(OfiPieces, that_fail_leave_a_lease_that_is_not_given_back_before_its_rma_endpoint_ends) {
  Pieces::Slot& slot = under_way(7);
  static_cast<void>(said());
  pieces.called_back(7);
  pieces.failed(slot, 1);
  EXPECT_EQ(pieces.next(slot).kind, Kind::wait);
  pieces.tidy();
  EXPECT_EQ(said(), Said{});
  pieces.rma_endpoint_ended(1);
  EXPECT_EQ(pieces.next(slot).kind, Kind::wait);
  EXPECT_EQ(said(), (Said{{MessageKind::ask, 7}}));
  ASSERT_TRUE(pieces.told(yes(7, 2)));
  EXPECT_EQ(pieces.next(slot).kind, Kind::go);
}

// Another one had failed, and the question about it crossed the end of our RMA endpoint.
TEST_F(OfiPieces, that_are_recalled_while_their_key_is_asked_wait_for_another_rma_endpoint) {
  Pieces::Slot& failed = under_way(7);
  Pieces::Slot& recalled = under_way(7);
  pieces.failed(failed, 1);
  pieces.recall(recalled);
  ASSERT_TRUE(pieces.told(yes(7, 1)));
  EXPECT_EQ(pieces.next(recalled).kind, Kind::wait);
  pieces.rma_endpoint_ended(1);
  pieces.next(recalled);
  ASSERT_TRUE(pieces.told(yes(7, 2)));
  EXPECT_EQ(pieces.next(recalled).kind, Kind::go);
}

TEST_F(OfiPieces, that_are_recalled_after_their_rma_endpoint_has_ended_need_no_other_end) {
  Pieces::Slot& slot = under_way(7);
  pieces.rma_endpoint_ended(1);
  ASSERT_TRUE(pieces.told(yes(7, 2)));
  static_cast<void>(said());
  pieces.recall(slot);
  EXPECT_EQ(said(), Said{});
  EXPECT_EQ(pieces.next(slot).kind, Kind::go);
}

TEST_F(OfiPieces, answers_that_nobody_asked_for_or_that_say_nonsense_are_none) {
  EXPECT_FALSE(pieces.told(yes(7)));
  pieces.next(add(7));
  EXPECT_FALSE(pieces.told(yes(7, 0)));
  EXPECT_FALSE(pieces.told(no(7, PH_ERR_PEER)));
  EXPECT_FALSE(pieces.told(no(7, PH_AGAIN)));
  TellBody endless = yes(7);
  endless.rma_endpoint_bytes = kMostAddressBytes + 1;
  EXPECT_FALSE(pieces.told(endless));
  ASSERT_TRUE(pieces.told(yes(7)));
  EXPECT_FALSE(pieces.told(yes(7))) << "twice";
}

TEST_F(OfiPieces, who_leaves_gives_back_what_is_not_in_use) {
  under_way(7);
  pieces.over(under_way(8));
  pieces.tidy();
  pieces.over(under_way(8));  // kept
  pieces.tidy();
  static_cast<void>(said());
  pieces.give_all();
  EXPECT_EQ(said(), (Said{{MessageKind::given, 8}}));
}

TEST_F(OfiPieces, are_no_more_than_there_are_slots_and_go_by_turns) {
  std::vector<Pieces::Slot*> slots;
  for (int i = 0; i < 4; ++i) slots.push_back(&add(7));
  EXPECT_EQ(pieces.add(piece(7)), nullptr);
  pieces.next(*slots[0]);
  ASSERT_TRUE(pieces.told(yes(7)));
  EXPECT_EQ(pieces.first(), 0u);
  pieces.taken(*slots[1], 1);
  EXPECT_EQ(pieces.first(), 2u);
  pieces.taken(*slots[3], 1);
  EXPECT_EQ(pieces.first(), 0u);
  pieces.over(*slots[1]);
  EXPECT_EQ(pieces.add(piece(7)), slots[1]);
}

}  // namespace
}  // namespace photon::transport::ofi
