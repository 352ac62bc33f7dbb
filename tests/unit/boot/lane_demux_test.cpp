// Messages of many lanes over one bootstrap: each finds its lane, whoever receives it.
#include "boot/lane_demux.hpp"

#include "boot_ranks.hpp"
#include "support/memory_boot.hpp"

namespace photon::test {
namespace {

using Kind = boot::Message::Kind;

class LaneDemuxTest : public testing::Test {
 protected:
  LaneDemuxTest() {
    for (ph_rank rank = 0; rank < 2; ++rank)
      front_[rank] = std::move(*boot::LaneDemux::front(job_.boot(rank)));
  }
  std::unique_ptr<boot::Boot> open(ph_rank rank, std::uint32_t number) {
    auto lane = front_[rank]->open_lane(number);
    EXPECT_TRUE(lane) << lane.error().what;
    return lane ? std::move(*lane) : nullptr;
  }
  // What has come for a lane: the texts, or "gone: why".
  static std::vector<std::string> take(boot::Boot& lane) {
    std::vector<std::string> found;
    for (;;) {
      auto message = lane.receive();
      EXPECT_TRUE(message);
      if (!message || !*message) return found;
      found.push_back((*message)->kind == Kind::gone ? std::string("gone: ") + (*message)->why
                                                     : as_text((*message)->bytes));
    }
  }
  static void send(boot::Boot& lane, ph_rank to, std::string_view text) {
    EXPECT_TRUE(*lane.send(to, as_bytes(text), {}));
  }
  using Texts = std::vector<std::string>;

  MemoryJob job_{2};
  std::unique_ptr<boot::Boot> front_[2];
};

TEST_F(LaneDemuxTest, a_message_comes_out_at_the_lane_of_the_same_number) {
  const auto a1 = open(0, 1), a2 = open(0, 2), b2 = open(1, 2), b1 = open(1, 1);
  send(*a1, 1, "one");
  send(*a2, 1, "two");
  send(*front_[0], 1, "none");
  send(*a1, 1, "one again");
  EXPECT_EQ(take(*b2), Texts{"two"});
  EXPECT_EQ(take(*b1), (Texts{"one", "one again"}));
  EXPECT_EQ(take(*front_[1]), Texts{"none"});
  EXPECT_EQ(b1->rank(), 1u);
  EXPECT_EQ(b1->size(), 2u);
  EXPECT_EQ(b1->local_size(), 2u);
  EXPECT_EQ(b1->secret(), front_[1]->secret());
}

TEST_F(LaneDemuxTest, descriptors_travel_with_it) {
  const auto a = open(0, 9), b = open(1, 9);
  const base::UniqueFd event(::eventfd(0, EFD_CLOEXEC));
  const int fds[] = {event.get()};
  EXPECT_TRUE(*a->send(1, as_bytes("with a descriptor"), fds));
  auto message = std::move(*b->receive());
  ASSERT_TRUE(message);
  ASSERT_EQ(message->fds.size(), 1u);
  EXPECT_EQ(::eventfd_write(message->fds[0].get(), 3), 0);
  eventfd_t value = 0;
  EXPECT_EQ(::eventfd_read(event.get(), &value), 0);
  EXPECT_EQ(value, 3u);
}

TEST_F(LaneDemuxTest, who_receives_wakes_the_lane_that_the_message_is_for) {
  const auto a = open(0, 1), b1 = open(1, 1), b2 = open(1, 2);
  EXPECT_FALSE(is_readable(b1->poll_fd()));
  send(*a, 1, "for lane 1");
  EXPECT_TRUE(is_readable(b1->poll_fd()));
  EXPECT_EQ(take(*b2), Texts{}) << "it took it off the socket";
  EXPECT_TRUE(is_readable(b1->poll_fd()));
  EXPECT_FALSE(is_readable(b2->poll_fd()));
  EXPECT_EQ(take(*b1), Texts{"for lane 1"});
  EXPECT_FALSE(is_readable(b1->poll_fd()));
}

TEST_F(LaneDemuxTest, what_comes_before_a_lane_is_opened_is_kept_in_order) {
  const auto a = open(0, 3);
  send(*a, 1, "first");
  send(*a, 1, "second");
  EXPECT_EQ(take(*front_[1]), Texts{});
  const auto b = open(1, 3);
  EXPECT_TRUE(is_readable(b->poll_fd()));
  EXPECT_EQ(take(*b), (Texts{"first", "second"}));
}

TEST_F(LaneDemuxTest, more_than_can_be_kept_is_refused_and_nothing_is_dropped_in_silence) {
  const auto a = open(0, 3);
  int sent = 0;
  for (Texts told; told.empty() && sent < 1000; ++sent) {
    send(*a, 1, "more " + std::to_string(sent));
    EXPECT_EQ(take(*front_[1]), Texts{});
    told = take(*a);
    EXPECT_TRUE(told.empty() || told[0].find("keeps no more") != std::string::npos);
  }
  EXPECT_LT(sent, 1000);
  EXPECT_EQ(take(*open(1, 3)).size(), static_cast<std::size_t>(sent - 1));
}

TEST_F(LaneDemuxTest, the_same_hint_is_kept_once) {
  const auto a = open(0, 3);
  for (int i = 0; i < 200; ++i) {
    send(*a, 1, "look");
    EXPECT_EQ(take(*front_[1]), Texts{});
  }
  EXPECT_EQ(take(*a), Texts{}) << "refused";
  EXPECT_EQ(take(*open(1, 3)), Texts{"look"});
}

TEST_F(LaneDemuxTest, a_number_is_open_once_and_never_again) {
  auto lane = open(0, 4);
  EXPECT_EQ(front_[0]->open_lane(4).error().status, PH_ERR_STATE);
  EXPECT_EQ(lane->open_lane(4).error().status, PH_ERR_STATE) << "asked through another lane";
  ASSERT_TRUE(lane->leave());
  EXPECT_EQ(front_[0]->open_lane(4).error().status, PH_ERR_STATE);
  lane.reset();
  EXPECT_EQ(front_[0]->open_lane(4).error().status, PH_ERR_STATE);
  lane = open(0, 5);
  lane.reset();  // without leave()
  EXPECT_EQ(front_[0]->open_lane(5).error().status, PH_ERR_STATE);
}

TEST_F(LaneDemuxTest, who_has_met_a_lane_is_told_that_it_was_closed) {
  const auto a = open(0, 1);
  auto b = open(1, 1);
  send(*a, 1, "hello");
  EXPECT_EQ(take(*b), Texts{"hello"});
  ASSERT_TRUE(b->leave());
  EXPECT_EQ(take(*a), Texts{"gone: has closed this lane"});
  EXPECT_TRUE(a->has_left(1));
  EXPECT_FALSE(front_[0]->has_left(1)) << "it is still in the job";
}

TEST_F(LaneDemuxTest, who_writes_to_a_lane_that_was_closed_is_told_so) {
  const auto a = open(0, 1);
  auto b = open(1, 1);
  send(*a, 1, "not read in time");
  EXPECT_EQ(take(*front_[1]), Texts{}) << "it lies ready for lane 1";
  ASSERT_TRUE(b->leave());
  EXPECT_EQ(take(*a), Texts{"gone: has closed this lane"});
  b.reset();
  send(*a, 1, "too late");
  EXPECT_EQ(take(*front_[1]), Texts{});
  EXPECT_EQ(take(*a), Texts{"gone: has closed this lane"});
}

TEST_F(LaneDemuxTest, a_rank_that_ends_is_gone_from_every_lane_and_kept_messages_come_first) {
  const auto b1 = open(1, 1), b2 = open(1, 2);
  auto a3 = open(0, 3);
  send(*a3, 1, "before its end");
  EXPECT_EQ(take(*front_[1]), Texts{});
  ASSERT_TRUE(b2->leave());
  a3.reset();  // a lane keeps its rank's bootstrap
  front_[0].reset();
  const Texts ended{"gone: has ended"};
  EXPECT_EQ(take(*b1), ended);
  EXPECT_EQ(take(*b2), ended) << "a closing lane waits for nobody who is dead";
  EXPECT_EQ(take(*front_[1]), ended);
  EXPECT_EQ(take(*open(1, 3)), (Texts{"before its end", "gone: has ended"}));
  EXPECT_EQ(take(*open(1, 4)), ended) << "who waits for it there is told, too";
}

TEST_F(LaneDemuxTest, what_is_no_envelope_is_for_lane_0_to_judge) {
  const auto b1 = open(1, 1);
  const std::uint64_t magic_alone = 0x00'65'6e'61'6c'68'70'00ULL;
  send(*front_[0], 1, "garbage that is longer than an envelope");
  EXPECT_TRUE(*front_[0]->send(1, std::as_bytes(std::span(&magic_alone, 1)), {}));
  struct {
    std::uint64_t magic;
    std::uint32_t lane, what;
  } const unknown{magic_alone, 1, 77}, lane_0{magic_alone, 0, 0};
  for (const auto& bad : {unknown, lane_0})
    EXPECT_TRUE(*front_[0]->send(1, std::as_bytes(std::span(&bad, 1)), {}));
  EXPECT_EQ(take(*b1), Texts{});
  EXPECT_EQ(take(*front_[1]).size(), 4u);
}

TEST_F(LaneDemuxTest, collectives_are_lane_0s) {
  const auto lane = open(0, 1);
  EXPECT_EQ(lane->barrier({}).error().status, PH_ERR_STATE);
  EXPECT_EQ(lane->allgather({}, {}, {}).error().status, PH_ERR_STATE);
  std::thread other([&] { EXPECT_TRUE(front_[1]->barrier([] {})); });
  bool served = false;
  EXPECT_TRUE(front_[0]->barrier([&] {
    served = true;
    EXPECT_EQ(take(*front_[0]), Texts{}) << "who serves may receive";
  }));
  other.join();
  EXPECT_TRUE(served);
}

TEST(NumberSet, holds_numbers_in_any_order_and_neighbours_as_one) {
  boot::NumberSet set;
  for (const std::uint32_t number : {5u, 7u, 6u, 0u, ~0u, 5u}) set.add(number);
  for (const std::uint32_t number : {5u, 6u, 7u, 0u, ~0u}) EXPECT_TRUE(set.contains(number));
  for (const std::uint32_t number : {1u, 4u, 8u, ~0u - 1}) EXPECT_FALSE(set.contains(number));
  EXPECT_EQ(set.ranges_count(), 3u);
  for (std::uint32_t number = 1; number < 1000; ++number) set.add(number);
  EXPECT_EQ(set.ranges_count(), 2u);
}

}  // namespace
}  // namespace photon::test
