// Each call goes to the child of its rank's side, or to both. With real children:
// tests/conformance/mixed_test.cpp.
#include "transport/mixed/mixed_transport.hpp"

#include "mixed_stubs.hpp"

namespace photon::transport::mixed::test {
namespace {

TEST_F(MixedStubs, what_concerns_a_rank_goes_to_its_side) {
  near_->reach_.kind = Reach::Kind::mapped;
  far_->reach_.kind = Reach::Kind::posted;
  far_->names = true;
  for (const Rank rank : {kNear, kFar}) {
    StubTransport& its = rank == kNear ? *near_ : *far_;
    StubTransport& other = rank == kNear ? *far_ : *near_;
    EXPECT_TRUE(mixed_->connect(rank));
    mixed_->kick(rank);
    EXPECT_EQ(mixed_->reach(rank, 0, 8).kind, its.reach_.kind);
    EXPECT_TRUE(mixed_->read(rank, 0, {}));
    EXPECT_TRUE(mixed_->write(rank, 0, {}));
    PostedFragment fragment;
    fragment.rank = rank;
    EXPECT_TRUE(mixed_->post(fragment));
    EXPECT_EQ(mixed_->has_imm(rank), rank == kFar);
    mixed_->disconnect(rank);
    for (const auto calls :
         {&StubTransport::connects, &StubTransport::kicks, &StubTransport::reads,
          &StubTransport::writes, &StubTransport::posts, &StubTransport::disconnects}) {
      EXPECT_EQ((its.*calls)[rank], 1u);
      EXPECT_EQ((other.*calls)[rank], 0u);
    }
  }
}

TEST_F(MixedStubs, what_concerns_the_rank_itself_goes_to_both) {
  mixed_->quiesce();
  mixed_->hide();
  mixed_->arm();
  mixed_->disarm();
  for (const StubTransport* child : {near_, far_}) {
    EXPECT_EQ(child->quiesced, 1u);
    EXPECT_EQ(child->hidden, 1u);
    EXPECT_EQ(child->armed, 1u);
    EXPECT_EQ(child->disarmed, 1u);
  }
  EXPECT_TRUE(mixed_->drained());
  for (StubTransport* child : {near_, far_}) {
    child->is_drained = false;
    EXPECT_FALSE(mixed_->drained());
    child->is_drained = true;
  }
}

TEST_F(MixedStubs, registrations_doorbell_and_the_rank_itself_are_the_near_sides) {
  EXPECT_EQ(mixed_->regions().data(), near_->table.data());
  EXPECT_EQ(given_.data(), near_->table.data());
  EXPECT_EQ(mixed_->lane_doorbell(), &near_->word);
  EXPECT_TRUE(mixed_->connect(0));
  EXPECT_EQ(near_->connects[0], 1u);
}

TEST_F(MixedStubs, strangers_are_the_far_sides) {
  near_->seen.garbage = 5;
  far_->seen.wrong_secret = 2;
  EXPECT_EQ(mixed_->rejected().garbage, 0u);
  EXPECT_EQ(mixed_->rejected().wrong_secret, 2u);
}

TEST_F(MixedStubs, a_near_rank_without_shared_memory_stays_without_and_the_path_says_why) {
  near_->at_connect = [](Rank rank) -> base::Result<Link*> {
    return base::Error{PH_ERR_PEER, 0, "no descriptor came through", rank};
  };
  EXPECT_FALSE(mixed_->connect(kNear));
  EXPECT_FALSE(mixed_->connect(kNear));
  EXPECT_EQ(far_->connects[kNear], 0u);
  ph_path path{};
  mixed_->describe(kNear, path);
  EXPECT_NE(std::string(path.reason).find("no descriptor came through"), std::string::npos)
      << path.reason;
}

TEST(MixedOpen, a_child_that_cannot_be_opened_is_the_error) {
  MemoryJob job(1);
  HostsBoot boot(job.boot(0), 1);
  const auto opens = [](boot::Boot&) -> Children::Opened {
    return std::unique_ptr<Transport>(std::make_unique<StubTransport>());
  };
  const base::Error no{PH_ERR_CONFIG, 0, "not today", PH_ANY_RANK};
  const auto near_fails =
      open_mixed(boot, {.near = [&](boot::Boot&) -> Children::Opened { return no; }, .far = {}});
  const auto far_fails = open_mixed(
      boot, {.near = opens,
             .far = [&](boot::Boot&, std::span<RegionEntry>) -> Children::Opened { return no; }});
  for (const auto* failed : {&near_fails, &far_fails}) {
    ASSERT_FALSE(*failed);
    EXPECT_EQ(failed->error().what, "not today");
  }
}

}  // namespace
}  // namespace photon::transport::mixed::test
