// News of two sides through one poll(), and one sleep for both.
#include "mixed_stubs.hpp"

namespace photon::transport::mixed::test {
namespace {

constexpr std::int64_t kTenMinutesUs = 600'000'000;

class MixedPoll : public MixedStubs {
 protected:
  void poll() { mixed_->poll(sink_); }
  // So that the far side has nothing to be looked at for, but by the clock.
  void settle() {
    for (int i = 0; i < 10; ++i) poll();
  }
};

TEST_F(MixedPoll, the_near_side_is_polled_each_time_and_the_far_side_while_it_is_in_use) {
  poll();
  EXPECT_EQ(near_->polls, 1u);
  EXPECT_EQ(far_->polls, 1u);
  settle();
  EXPECT_EQ(near_->polls, 11u);
  mixed_->kick(kFar);
  EXPECT_EQ(mixed_->poll_interval(), 1u);
  const unsigned before = far_->polls;
  while (far_->polls == before) poll();  // the deadline is the suite's
}

TEST_F(MixedPoll, news_of_the_far_side_has_it_polled_always) {
  settle();
  far_->at_poll = [](Sink& sink) { sink.on_activity(kFar); };
  while (sink_.activity.empty()) poll();
  EXPECT_EQ(mixed_->poll_interval(), 1u);
}

TEST_F(MixedPoll, the_look_after_announce_and_the_one_after_a_sleep_are_at_both_sides) {
  settle();
  unsigned before = far_->polls;
  mixed_->arm();
  poll();
  EXPECT_EQ(far_->polls, before + 1);
  before = far_->polls;
  mixed_->sleep(0);
  mixed_->disarm();
  poll();
  EXPECT_EQ(far_->polls, before + 1);
}

TEST_F(MixedPoll, both_children_report_through_it) {
  near_->at_poll = [](Sink& sink) {
    sink.on_link(kNear);
    sink.on_activity(kNear);
  };
  far_->at_poll = [](Sink& sink) {
    sink.on_link(kFar);
    sink.on_fragment(kFar, 7);
    sink.on_done(3, PH_OK);
    sink.on_gone(kFar, {});
  };
  poll();
  EXPECT_EQ(sink_.links, (std::vector<Rank>{kNear, kFar}));
  EXPECT_EQ(sink_.activity, std::vector<Rank>{kNear});
  EXPECT_EQ(sink_.fragments, std::vector<Rank>{kFar});
  EXPECT_EQ(sink_.done, std::vector<std::uint64_t>{3});
  EXPECT_EQ(sink_.gone, std::vector<Rank>{kFar});
}

TEST_F(MixedPoll, who_speaks_under_the_number_of_a_rank_of_the_other_side_is_not_heard) {
  const auto speak_as = [](Rank rank) {
    return [rank](Sink& sink) {
      sink.on_link(rank);
      sink.on_activity(rank);
      sink.on_fragment(rank, 1);
      sink.on_gone(rank, {});
    };
  };
  near_->at_poll = speak_as(kFar);
  far_->at_poll = speak_as(kNear);
  poll();
  EXPECT_TRUE(sink_.links.empty());
  EXPECT_TRUE(sink_.activity.empty());
  EXPECT_TRUE(sink_.fragments.empty());
  EXPECT_TRUE(sink_.gone.empty());
}

TEST_F(MixedPoll, a_sleep_ends_by_either_sides_descriptor_and_by_wake) {
  for (StubTransport* child : {near_, far_}) {
    mixed_->arm();
    ASSERT_EQ(::eventfd_write(child->event.get(), 1), 0);
    mixed_->sleep(kTenMinutesUs);
    mixed_->disarm();
    eventfd_t ignored = 0;
    ASSERT_EQ(::eventfd_read(child->event.get(), &ignored), 0);
    EXPECT_EQ(child->slept_with.size(), 1u);
  }
  mixed_->wake();
  EXPECT_EQ(near_->woken + far_->woken, 1u);
}

}  // namespace
}  // namespace photon::transport::mixed::test
